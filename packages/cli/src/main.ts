import { isObject } from "@toolcrib/core/text";
import type { Command, CommanderError } from "commander";
import { createCommands } from "./commands/commands.ts";
import { type ExitReason, usageError } from "./exitReasons.ts";
import { ruleAdvice } from "./flags.ts";
import type { Host } from "./host.ts";
import type { Program } from "./program.ts";
import { findFolders } from "./state/folders.ts";

/** The exit code of each reason. A signal that ends the program gives 128 plus its number instead. */
const exitCodes: Readonly<Record<ExitReason, number>> = {
  ok: 0,
  failed: 1,
  usage: 2,
  provider: 3,
  denied: 4,
  limit: 5,
  interrupted: 130,
};

/** Runs the command in `host`; resolves to the exit code. Never rejects, and leaves nothing behind. */
export async function main(args: readonly string[], host: Host): Promise<number> {
  let exitReason: ExitReason = "ok";
  const atEnd: Program["atEnd"] = new Set();
  const commands = createCommands(
    host,
    () => createProgram(host, atEnd),
    (ended) => {
      exitReason = ended;
    },
  );
  try {
    if (args.length === 0 && !isOnTerminal(host)) commands.outputHelp();
    else await commands.parseAsync(withCommand(args, host), { from: "user" });
  } catch (thrown) {
    const error = isCommanderError(thrown) ? fromCommander(thrown, host) : thrown;
    if (error === undefined) return exitCodes.ok;
    const { explain, jsonError, lacksJson, traceOf } = await import("./explain.ts");
    if (host.env.TOOLCRIB_DEBUG === "1") host.stderr.write(`${traceOf(error)}\n`);
    const { exitReason, message } = explain(error);
    host.stderr.write(`toolcrib: ${message}\n`);
    if (lacksJson(error, args)) host.stdout.write(jsonError(error));
    return exitCodes[exitReason];
  } finally {
    // The program's own comes first in the set and is called last: interrupts are heard until the rest is closed.
    const [endProgram, ...ends] = atEnd;
    await Promise.all(ends.map((end) => end())).finally(endProgram);
  }
  return exitCodes[exitReason];
}

/** Bytes; below it lie files with names of their own. */
const longestFolder = 3_800;

function isOnTerminal({ stdin, stdout, stderr }: Host): boolean {
  return [stdin, stdout, stderr].every(({ isTTY }) => isTTY);
}

/**
 * Completes the words: `toolcrib`, or flags alone, is `toolcrib chat`; `toolcrib -p "…"` is `toolcrib run -p "…"`; a sentence is the first
 * message of a conversation, or the prompt of a run where there is no terminal.
 */
function withCommand(args: readonly string[], host: Host): string[] {
  const [first] = args;
  if (first === undefined) return ["chat"];
  if (first === "--container") return ["container", ...args.slice(1)];
  if (first === "container") throw usageError("container is a flag: toolcrib --container run …");
  if (/^(?:-h|--help|-V|--version)$/.test(first)) return [...args];
  if (first.startsWith("-")) return [args.some((arg) => /^(?:-p|--prompt)(?:$|=)/.test(arg)) ? "run" : "chat", ...args];
  if (/\S[ \t\r\n]+\S/.test(first)) return [isOnTerminal(host) ? "chat" : "run", ...args];
  return [...args];
}

async function createProgram(host: Host, atEnd: Program["atEnd"]): Promise<Program> {
  const [{ createLeftovers }, { catchInterrupts }, { createTerminal }, { ownSettings, withColor }, { ownTrust }] =
    await Promise.all([
      import("@toolcrib/tools-bash"),
      import("./terminal/interrupts.ts"),
      import("./terminal/terminal.ts"),
      import("./config/ownSettings.ts"),
      import("./state/ownTrust.ts"),
    ]);
  let cwd: string;
  try {
    cwd = host.cwd();
  } catch {
    throw usageError("the working directory was removed; change to another one");
  }
  const folders = findFolders(host.env);
  for (const folder of [folders.state, folders.config])
    if (Buffer.byteLength(folder) > longestFolder)
      throw usageError(`${folder.slice(0, 80)}… is longer than a path can be; set XDG_STATE_HOME and XDG_CONFIG_HOME`);
  const settings = ownSettings(folders);
  // The command that uses them says what is wrong.
  const env = withColor(host.env, (await settings.catch(() => undefined)) ?? {});
  const terminal = createTerminal(env, host);
  const leftovers = createLeftovers();
  const note = (): void => terminal.aside("\nEnding the request; Ctrl-C again ends the program.");
  const signals = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 };
  const interrupts = catchInterrupts(host, note, (signal) => host.exit(128 + signals[signal]));
  const leave = (): void => void leftovers.end();
  host.on("exit", leave);
  atEnd.add(async () => {
    interrupts.close();
    leave();
    host.off("exit", leave);
  });
  const trust = ownTrust(folders, terminal.aside);
  return { host, terminal, interrupts, leftovers, atEnd, env, folders, settings, trust, cwd };
}

type ParseError = CommanderError & { readonly command?: Command };

function isCommanderError(error: unknown): error is ParseError {
  return isObject(error) && String(error.code).startsWith("commander.");
}

/** Makes one sentence in place of commander's lines; undefined after help was shown on request. */
function fromCommander({ code, message, command }: ParseError, host: Host): Error | undefined {
  if (code === "commander.helpDisplayed" || code === "commander.version") return undefined;
  if (code === "commander.help") {
    // A command that only has subcommands, called by itself.
    host.stdout.write(command?.helpInformation() ?? "");
    return undefined;
  }
  const sentence = message
    .replace(/^error: /, "")
    .replace(/\s*\n\s*\(/, " (")
    .replace(/\.$/, "");
  if (code === "commander.optionMissingArgument" && /'--(?:allow|ask|deny) /.test(message))
    return usageError(`${sentence}: give a rule, ${ruleAdvice}`);
  const flag = /unknown option '(--[\w-]+)/.exec(message)?.[1] ?? "";
  const now = command?.name() === "run" ? { ...replaced, ...replacedOfRun }[flag] : replaced[flag];
  if (now !== undefined) return usageError(`there is no ${flag}; write ${now}`);
  const path = command?.parent ? `${commandPath(command)} ` : "toolcrib ";
  const isPrompt = code === "commander.unknownCommand" && !command?.parent;
  return usageError(`${sentence}; see ${path}--help${isPrompt ? ', or ask with toolcrib run "…"' : ""}`);
}

/** Flags of other programs, and ours. */
const replaced: Readonly<Record<string, string>> = {
  "--yes": "--mode full",
};
const replacedOfRun: Readonly<Record<string, string>> = {
  "--json": "--output-format json",
  "--jsonl": "--output-format stream-json",
};

function commandPath(command: Command): string {
  return command.parent ? `${commandPath(command.parent)} ${command.name()}` : command.name();
}
