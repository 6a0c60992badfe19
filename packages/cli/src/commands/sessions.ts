import type { SessionSummary } from "@toolcrib/agent";
import { printableName } from "@toolcrib/core/text";
import { type ExitReason, usageError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { writeNewFile } from "../state/givenFile.ts";
import { describeSession, exportSession, namedSession, numberedRows, sessionsOf } from "../state/sessionFile.ts";
import type { DefineCommand } from "./defineCommand.ts";

interface ExportFlags {
  readonly html?: boolean | undefined;
  readonly md?: boolean | undefined;
  readonly output?: string | undefined;
}

function row(session: SessionSummary): string {
  return `${printableName(session.id)}  ${describeSession(session)}`;
}

const sessionArgument = ["[session]", "its number or id, as sessions list shows them (default: the last one)"] as const;

/** `toolcrib sessions list` */
export const list: DefineCommand = (command, action) =>
  command.option("--json", "as JSON").action(
    action(async ({ terminal, env }: Program, flags: { readonly json?: boolean }): Promise<ExitReason> => {
      const found = await sessionsOf(process.cwd(), env).list();
      if (flags.json) terminal.data(`${JSON.stringify(found)}\n`);
      else if (found.length === 0) terminal.note("No conversation was held in this directory yet.");
      else terminal.show(`${numberedRows(found.map(row), found.length)}\n`);
      return "ok";
    }),
  );

/** `toolcrib sessions show` */
export const show: DefineCommand = (command, action) =>
  command
    .argument(...sessionArgument)
    .action(action((program: Program, name: string | undefined) => write(program, name, { md: true })));

/** `toolcrib sessions export` */
export const exportOne: DefineCommand = (command, action) =>
  command
    .argument(...sessionArgument)
    .option("--html", "one page with all in it (the default)")
    .option("--md", "Markdown, without pictures")
    .option("-o, --output <file>", "to a new file, instead of standard output")
    .action(action(write));

/** `toolcrib sessions delete` */
export const remove: DefineCommand = (command, action) =>
  command.argument("<sessions...>", "numbers or ids, as sessions list shows them").action(
    action(async ({ terminal, env }: Program, names: readonly string[]): Promise<ExitReason> => {
      const sessions = sessionsOf(process.cwd(), env);
      // All are found first: each deletion changes the numbers.
      const chosen = new Map<string, Awaited<ReturnType<typeof namedSession>>>();
      for (const name of names) {
        const session = await namedSession(name, sessions);
        // The beginning of an id is enough to look at one.
        if (!/^\d{1,5}$/.test(name) && name.length < session.id.length)
          throw usageError(`sessions delete ${name}: to delete it, write its whole id: ${session.id}`);
        chosen.set(session.file, session);
      }
      for (const session of chosen.values()) {
        await sessions.remove(session);
        terminal.show(`Deleted: ${row(session)}\n`);
      }
      return "ok";
    }),
  );

async function write({ terminal, env }: Program, name: string | undefined, flags: ExportFlags): Promise<ExitReason> {
  if (flags.html && flags.md) throw usageError("sessions export: pass --html or --md, not both");
  const { file } = await namedSession(name ?? "1", sessionsOf(process.cwd(), env));
  const content = await exportSession(file, flags.md ? "md" : "html", env);
  if (flags.output === undefined) terminal.data(content);
  else {
    writeNewFile(flags.output, content);
    terminal.note(`Written to ${flags.output}. It holds what was said and read: look through it before you share it.`);
  }
  return "ok";
}
