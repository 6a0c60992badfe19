import { Command } from "commander";
import { type ExitReason, usageError } from "../exitReasons.ts";
import type { Host } from "../host.ts";
import type { Program } from "../program.ts";
import { connectionAdvice } from "../sharedFlags.ts";
import { type DefineCommand, flagLoaders } from "./defineCommand.ts";

/** A command's entry in the help of the one above it, and the file with the rest, loaded when it is used. */
interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load?: () => Promise<DefineCommand>;
  readonly commands?: readonly CommandEntry[];
}

/** Describes a command whose file exports it under its name. */
function command<Name extends string>(
  name: Name,
  summary: string,
  load: () => Promise<{ readonly [Key in NoInfer<Name>]: DefineCommand }>,
): CommandEntry {
  return { name, summary, load: async () => (await load())[name] };
}

function group(name: string, summary: string, commands: readonly CommandEntry[]): CommandEntry {
  return { name, summary, commands };
}

const tools = () => import("./toolsList.ts");
const servers = () => import("./mcp/mcpServers.ts");
const logins = () => import("./mcp/mcpLogin.ts");
const permissions = () => import("./permissions.ts");
const sessions = () => import("./sessions.ts");
const config = () => import("./config/configCommands.ts");
const doctor = () => import("./doctor.ts");

const container = command(
  "container",
  "the same command in a container, with only the project mounted",
  () => import("./container.ts"),
);

const rootCommands: Readonly<Record<string, readonly CommandEntry[]>> = {
  "To work": [
    command("run", "one task: the answer on stdout, tool calls on stderr", () => import("./run/run.ts")),
    command("chat", "a conversation in the terminal", () => import("./chat/chat.ts")),
    group("sessions", "the conversations of this directory", [
      command("list", "the conversations of this directory, the last first", sessions),
      command("show", "a conversation as Markdown", sessions),
      command("export", "a conversation as one page, or as Markdown", sessions),
      command("delete", "delete conversations and all their files", sessions),
    ]),
    command("acp", "the agent of an editor (Agent Client Protocol)", () => import("./acp.ts")),
    command("demo", "a survey of this directory without a model: no key, no network", () => import("./demo.ts")),
  ],
  "To set up": [
    group("config", "settings without flags: your own, and those of this directory", [
      command("get", "all settings, and where they come from", config),
      command("set", "set a key in your own file, or with --project in .toolcrib.json", config),
      command("unset", "remove a key from the file", config),
      command("edit", "open the file in $VISUAL or $EDITOR, then check it", config),
      command("path", "where the file is", config),
      command("trust", "trust this directory's .toolcrib.json, commands, hooks and skills, until they change", config),
    ]),
    group("permissions", "what may run here, and the remembered answers", [
      command("list", "the mode, the rules, and the remembered answers in this directory", permissions),
      command("explain", "how a call would be decided, and why; runs nothing", permissions),
      command("revoke", "forget answers", permissions),
    ]),
    command("doctor", "what is wrong here, and what to do", doctor),
    command("completion", "completes commands, flags and names in your shell", () => import("./completion.ts")),
  ],
  "Tools and programs": [
    group("tools", "the tools by themselves, without a model", [
      command("list", "the tools, and which are on", tools),
      command("call", "call one tool", () => import("./toolsCall.ts")),
      command("cost", "the estimated tokens of the tools in each request", tools),
    ]),
    group("mcp", "the tools over MCP, and the MCP servers of this directory", [
      command("serve", "serve the tools over MCP, on standard input and output", () => import("./mcp/mcpServe.ts")),
      command("add", "add a server to .mcp.json: a command, or the address of one", servers),
      command("list", "the servers in .mcp.json", servers),
      command("allow", "allow servers in .mcp.json to start with their present entries", servers),
      command("remove", "remove a server from .mcp.json", servers),
      command("test", "start the servers in .mcp.json and show their tools", () => import("./mcp/mcpTest.ts")),
      command("login", "log in to a server in your browser", logins),
      command("logout", "end such a login", logins),
    ]),
    command("init", "a small project with an agent and your own tool", () => import("./init.ts")),
    command("contracts", "what other versions of the installed packages would change", doctor),
  ],
};

/**
 * Makes the commands, each without its flags until it is used. `ended` gets how a command ended. Parsing throws a CommanderError, its
 * `command` the one that was being parsed.
 */
export function createCommands(
  host: Host,
  startProgram: () => Promise<Program>,
  ended: (exitReason: ExitReason) => void,
): Command {
  let started: Promise<Program> | undefined;
  const start = (): Promise<Program> => (started ??= startProgram());
  const entries = new Map<Command, CommandEntry>();
  const defined = new Set<Command>();
  const define = async (command: Command): Promise<void> => {
    if (defined.has(command)) return;
    defined.add(command);
    const load = entries.get(command)?.load;
    if (load) (await load())(command, async (run) => ended(await run(await start())));
  };
  const add = (parent: Command, entry: CommandEntry, hidden = false): Command => {
    const command = parent.command(entry.name, { hidden }).description(entry.summary);
    entries.set(command, entry);
    flagLoaders.set(command, () => define(command));
    nameInErrors(command);
    if (entry.commands) {
      for (const inner of entry.commands) add(command, inner);
      withHelp(command, define);
    }
    return command;
  };
  const root = createRoot(host);
  nameInErrors(root);
  for (const [heading, children] of Object.entries(rootCommands))
    for (const entry of children) add(root, entry).helpGroup(`${heading}:`);
  add(root, container, true);
  withHelp(root, define);
  root.hook("preAction", async (_root, command) => {
    if (!entries.has(command)) return;
    const { applyConfig } = await import("../config/applyConfig.ts");
    await applyConfig(command, await start());
  });
  return root;
}

function createRoot({ stdout }: Host): Command {
  return new Command("toolcrib")
    .description("An agent, and its tools, on the files of a directory.")
    .option("-V, --version", "print the version")
    .option("--container", "before a command: in a container, with only the project mounted")
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      getOutHelpWidth: () => (stdout.isTTY ? stdout.columns : 80),
      writeErr: () => {},
      outputError: () => {},
    })
    .addHelpText(
      "after",
      `
Examples:
  toolcrib run "find TODO in src"
  git diff | toolcrib run "review this" -m anthropic
  toolcrib tools call search_text --query TODO --paths src

Exit codes: 0 ok, 1 failed, 2 usage, 3 model, 4 denied or approval needed, 5 limit reached, 130 interrupted.
toolcrib -p "…" is short for toolcrib run "…".
toolcrib "…" is short for toolcrib chat "…", and the flags of chat do without the word.

Which model: -m, else the first key that is set, else a model server on this machine. To connect one:
${connectionAdvice.map((way) => `  - ${way}`).join("\n")}`,
    );
}

function nameInErrors(command: Command): void {
  command.exitOverride((error) => {
    throw Object.assign(error, { command });
  });
}

/** Adds `help NAME…` to a command that has others. Not commander's own, which takes an unknown name for no name at all. */
function withHelp(parent: Command, define: (command: Command) => Promise<void>): void {
  const help = parent
    .helpCommand(false)
    .command("help", { hidden: true })
    .argument("[command...]")
    .action(async (names: string[]) => {
      let asked = parent;
      for (const name of names) {
        const found = asked.commands.find((one) => one.name() === name);
        if (!found) throw await unknownCommand(asked, name);
        asked = found;
      }
      await define(asked);
      asked.outputHelp();
    });
  nameInErrors(help);
  parent.hook("preSubcommand", (_parent, command) => define(command));
  parent.configureHelp({ subcommandTerm: (command) => command.name() });
}

async function unknownCommand(parent: Command, name: string): Promise<Error> {
  const { nearestName } = await import("@toolcrib/core/internal");
  const names = parent.commands.map((one) => one.name());
  const nearest = nearestName(name, names);
  return usageError(`help: ${parent.name()} has no command ${name}${nearest ? `; did you mean ${nearest}?` : ""}`);
}
