import { Command } from "commander";
import { type ExitReason, usageError } from "../exitReasons.ts";
import { waysToConnect } from "../model/waysToConnect.ts";
import type { Program } from "../program.ts";
import { type DefineCommand, flagLoaders, type ToAction } from "./defineCommand.ts";

/** What the help of the command above shows of a command, and the file with the rest, loaded when it is used. */
interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Its arguments, as help shows them. */
  readonly takes?: string;
  readonly load?: () => Promise<DefineCommand>;
  readonly commands?: readonly CommandEntry[];
}

/** `usage` is the name, and behind it the arguments as help shows them; `exported` what the file calls the command. */
function command<Name extends string = "define">(
  usage: string,
  summary: string,
  load: () => Promise<{ readonly [Key in NoInfer<Name>]: DefineCommand }>,
  exported: Name = "define" as Name,
): CommandEntry {
  const [name = "", ...takes] = usage.split(" ");
  return { name, takes: takes.join(" "), summary, load: async () => (await load())[exported] };
}

const group = (name: string, summary: string, commands: readonly CommandEntry[]): CommandEntry => ({
  name,
  summary,
  commands,
});

const toolCommands: readonly CommandEntry[] = [
  command("list [options]", "what tools there are, and which are on", () => import("./toolsList.ts")),
  command("call [options] [name] [arguments...]", "call one tool", () => import("./toolsCall.ts")),
  command("cost [options]", "what the tools take of each request, in estimated tokens", () => import("./toolsCost.ts")),
];

const mcpCommands: readonly CommandEntry[] = [
  command(
    "serve [options]",
    "serve the tools over MCP, on standard input and output",
    () => import("./mcp/mcpServe.ts"),
  ),
  command(
    "add [options] <name> <target> [args...]",
    "add a server to .mcp.json: a command, or the address of one",
    () => import("./mcp/mcpAdd.ts"),
  ),
  command("list [options]", "the servers in .mcp.json", () => import("./mcp/mcpList.ts")),
  command(
    "allow <names...>",
    "allow servers to start as .mcp.json has them now; a changed entry asks again",
    () => import("./mcp/mcpAllow.ts"),
  ),
  command("remove [options] <name>", "remove a server from .mcp.json", () => import("./mcp/mcpRemove.ts")),
  command(
    "test [options] [name]",
    "start the servers in .mcp.json and show their tools",
    () => import("./mcp/mcpTest.ts"),
  ),
  command(
    "login [options] <name>",
    "log in at a server that asks for it, in your browser",
    () => import("./mcp/mcpLogin.ts"),
  ),
  command("logout <name>", "end such a login", () => import("./mcp/mcpLogout.ts")),
];

const permissionCommands: readonly CommandEntry[] = [
  command(
    "list [options]",
    "the mode, the rules, and the answers that hold for good in this directory",
    () => import("./permissionsList.ts"),
  ),
  command(
    "explain [options] <tool> [arguments...]",
    "what would be decided about a call, and why; runs nothing",
    () => import("./permissionsExplain.ts"),
  ),
  command("revoke <ids...>", "forget answers", () => import("./permissionsRevoke.ts")),
];

const sessions = () => import("./sessions.ts");
const sessionCommands: readonly CommandEntry[] = [
  command("list [options]", "the conversations of this directory, the last first", sessions, "list"),
  command("show [session]", "a conversation as Markdown", sessions, "show"),
  command("export [options] [session]", "a conversation as one page, or as Markdown", sessions, "exportOne"),
  command("delete <sessions...>", "delete conversations with all that is kept of them", sessions, "remove"),
];

const config = () => import("./config/configCommands.ts");
const configCommands: readonly CommandEntry[] = [
  command("get [options] [key]", "what is set, and where it comes from", config, "defineGet"),
  command(
    "set [options] <key> <values...>",
    "set a key in your own file, or with --project in .toolcrib.json",
    config,
    "defineSet",
  ),
  command("unset [options] <key>", "take a key out of the file again", config, "defineUnset"),
  command("edit [options]", "open the file in $VISUAL or $EDITOR, and check it afterwards", config, "defineEdit"),
  command("path [options]", "where the file is", config, "definePath"),
  command(
    "trust [options]",
    "use .toolcrib.json of this directory as it is now; a changed file asks again",
    config,
    "defineTrust",
  ),
];

const rootCommands: readonly CommandEntry[] = [
  command(
    "run [options] [prompt...]",
    "one task: the answer on stdout, tool calls on stderr",
    () => import("./run/run.ts"),
  ),
  command("chat [options]", "a conversation in the terminal", () => import("./chat/chat.ts")),
  group("tools", "the tools by themselves, without a model", toolCommands),
  command("demo", "a survey of this directory by the offline stand-in: no key, no network", () => import("./demo.ts")),
  command("init [dir]", "a small project with an agent and a tool of your own", () => import("./init.ts")),
  command(
    "doctor [options]",
    "what is wrong here, and what to do; what an upgrade would change",
    () => import("./doctor.ts"),
  ),
  group("config", "what holds without a flag: your own settings, and this directory's", configCommands),
  command("acp", "the agent of an editor (Agent Client Protocol)", () => import("./acp.ts")),
  command("container", "toolcrib in a container: --container run …", () => import("./container.ts")),
  group("permissions", "what may run here, and the answers that are remembered", permissionCommands),
  group("sessions", "the conversations of this directory", sessionCommands),
  group("mcp", "the tools over MCP, and the MCP servers of this directory", mcpCommands),
  command(
    "completion <bash|zsh|fish>",
    "the script that completes commands, flags and names in your shell",
    () => import("./completion.ts"),
  ),
];

/**
 * The commands, each without its flags until it is used. `ended` gets how a command ended. Parsing throws a CommanderError, its
 * `command` the one that was being parsed.
 */
export function createCommands(startProgram: () => Promise<Program>, ended: (exitReason: ExitReason) => void): Command {
  let started: Promise<Program> | undefined;
  const start = (): Promise<Program> => (started ??= startProgram());
  const toAction: ToAction =
    (run) =>
    async (...args) =>
      ended(await run(await start(), ...args));
  const entries = new Map<Command, CommandEntry>();
  const defined = new Set<Command>();
  const define = async (command: Command): Promise<void> => {
    if (defined.has(command)) return;
    defined.add(command);
    (await entries.get(command)?.load?.())?.(command, toAction);
  };
  const takes = (command: Command): string =>
    command.name() === "help" ? "[command...]" : (entries.get(command)?.takes ?? "");
  const addAll = (parent: Command, children: readonly CommandEntry[]): void => {
    for (const entry of children) {
      const command = parent.command(entry.name).description(entry.summary);
      entries.set(command, entry);
      flagLoaders.set(command, () => define(command));
      nameInErrors(command);
      if (entry.commands) addAll(command, entry.commands);
    }
    nameInErrors(addHelp(parent, define));
    parent.hook("preSubcommand", (_parent, command) => define(command));
    parent.configureHelp({
      subcommandTerm: (command) => `${command.name()} ${takes(command)}`.trimEnd(),
    });
  };
  const root = createRoot();
  nameInErrors(root);
  addAll(root, rootCommands);
  root.hook("preAction", async (_root, command) => {
    if (!entries.has(command)) return;
    const { applyConfig } = await import("../config/applyConfig.ts");
    await applyConfig(command, await start());
  });
  return root;
}

function createRoot(): Command {
  return new Command("toolcrib")
    .description("An agent, and its tools, on the files of a directory.")
    .option("-V, --version", "print the version")
    .enablePositionalOptions()
    .configureOutput({ writeErr: () => {}, outputError: () => {} })
    .addHelpText(
      "after",
      `
Examples:
  toolcrib run "find TODO in src"
  git diff | toolcrib run "review this" -m anthropic
  toolcrib tools call search_text --query TODO --paths src

Exit codes: 0 ok, 1 failed, 2 usage, 3 model, 4 denied or approval needed, 5 limit reached, 130 interrupted.
toolcrib -p "…" is short for toolcrib run "…".

Which model: -m, else the first key that is set, else a model server on this machine. To connect one:
${waysToConnect.map((way) => `  - ${way}`).join("\n")}`,
    );
}

function nameInErrors(command: Command): void {
  command.exitOverride((error) => {
    throw Object.assign(error, { command });
  });
}

/** `help NAME…`. Not commander's own, which takes an unknown name for no name at all. */
function addHelp(parent: Command, define: (command: Command) => Promise<void>): Command {
  return parent
    .helpCommand(false)
    .command("help")
    .description("display help for command")
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
}

async function unknownCommand(parent: Command, name: string): Promise<Error> {
  const { nearestName } = await import("@toolcrib/core/internal");
  const names = parent.commands.map((one) => one.name());
  const nearest = nearestName(name, names);
  return usageError(`help: ${parent.name()} has no command ${name}${nearest ? `; did you mean ${nearest}?` : ""}`);
}
