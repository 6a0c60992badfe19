import type { SessionSummary } from "@toolcrib/agent";
import { printableName } from "@toolcrib/core/text";
import { type ExitReason, usageError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { writeNewFile } from "../state/givenFile.ts";
import { describeSession, exportSession, namedSession, sessionChoice, sessionsOf } from "../state/sessionFile.ts";
import { numberedRows } from "../terminal/ask.ts";
import { type DefineCommand, defineCommand } from "./defineCommand.ts";

function row(session: SessionSummary): string {
  return `${printableName(session.id)}  ${describeSession(session)}`;
}

const sessionArgument = ["[session]", "its number or id, as sessions list shows them (default: the last one)"] as const;

export const list: DefineCommand = defineCommand({
  flags: { json: { usage: "--json", about: "as JSON" } },
  async run({ terminal, folders, cwd }, { json }): Promise<ExitReason> {
    const found = await sessionsOf(cwd, folders).list();
    if (json) terminal.data(`${JSON.stringify(found)}\n`);
    else if (found.length === 0) terminal.note("There is no conversation in this directory yet.");
    else
      terminal.show(
        `${numberedRows(
          found.map((one) => sessionChoice(one, row(one))),
          "",
          found.length,
        )}\n`,
      );
    return "ok";
  },
});

export const show: DefineCommand = defineCommand({
  arguments: [sessionArgument],
  run: (program, _flags, [name]) => write(program, name, "md"),
});

const exportOne: DefineCommand = defineCommand({
  flags: {
    html: { usage: "--html", about: "one plain page (the default)" },
    md: { usage: "--md", about: "Markdown" },
    output: { usage: "-o, --output <file>", about: "to a new file, instead of standard output" },
  },
  arguments: [sessionArgument],
  run(program, { html, md, output }, [name]) {
    if (html && md) throw usageError("sessions export: pass --html or --md, not both");
    return write(program, name, md ? "md" : "html", output);
  },
});

const remove: DefineCommand = defineCommand({
  arguments: [["<sessions...>", "numbers or ids, as sessions list shows them"]],
  async run({ terminal, folders, cwd }, _flags, [names]): Promise<ExitReason> {
    const sessions = sessionsOf(cwd, folders);
    // All are found first: each deletion changes the numbers.
    const chosen = new Map<string, SessionSummary>();
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
  },
});

export { exportOne as export, remove as delete };

async function write(
  { terminal, env, folders, cwd }: Program,
  name = "1",
  form: "md" | "html",
  output?: string,
): Promise<ExitReason> {
  const { file } = await namedSession(name, sessionsOf(cwd, folders));
  const content = await exportSession(file, form, env);
  if (output === undefined || output === "-") terminal.data(content);
  else {
    writeNewFile(output, content, cwd);
    terminal.note(
      `Written to ${output}. It contains all messages and everything that was read: look through it before you share it.`,
    );
  }
  return "ok";
}
