import { Command } from "commander";
import { type ExitReason, usageError } from "../exitReasons.ts";
import { waysToConnect } from "../model/waysToConnect.ts";
import type { Program } from "../program.ts";
import type { DefineCommand, ToAction } from "./defineCommand.ts";

/** What the help of the command above shows of a command, and the file with the rest, loaded when it is used. */
interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Its arguments, as help shows them. */
  readonly takes?: string;
  readonly load?: () => Promise<{ readonly define: DefineCommand }>;
  readonly commands?: readonly CommandEntry[];
}

const toolCommands: readonly CommandEntry[] = [
  {
    name: "list",
    takes: "[options]",
    summary: "what tools there are, and which are on",
    load: () => import("./toolsList.ts"),
  },
  {
    name: "call",
    takes: "[options] [name] [arguments...]",
    summary: "call one tool",
    load: () => import("./toolsCall.ts"),
  },
  {
    name: "cost",
    takes: "[options]",
    summary: "what the tools take of each request, in estimated tokens",
    load: () => import("./toolsCost.ts"),
  },
];

const mcpCommands: readonly CommandEntry[] = [
  {
    name: "serve",
    takes: "[options]",
    summary: "serve the tools over MCP, on standard input and output",
    load: () => import("./mcp/mcpServe.ts"),
  },
  {
    name: "add",
    takes: "[options] <name> <target> [args...]",
    summary: "add a server to .mcp.json: a command, or the address of one",
    load: () => import("./mcp/mcpAdd.ts"),
  },
  { name: "list", takes: "[options]", summary: "the servers in .mcp.json", load: () => import("./mcp/mcpList.ts") },
  {
    name: "allow",
    takes: "<names...>",
    summary: "allow servers to start as .mcp.json has them now; a changed entry asks again",
    load: () => import("./mcp/mcpAllow.ts"),
  },
  {
    name: "remove",
    takes: "[options] <name>",
    summary: "remove a server from .mcp.json",
    load: () => import("./mcp/mcpRemove.ts"),
  },
  {
    name: "test",
    takes: "[options] [name]",
    summary: "start the servers in .mcp.json and show their tools",
    load: () => import("./mcp/mcpTest.ts"),
  },
  {
    name: "login",
    takes: "[options] <name>",
    summary: "log in at a server that asks for it, in your browser",
    load: () => import("./mcp/mcpLogin.ts"),
  },
  { name: "logout", takes: "<name>", summary: "end such a login", load: () => import("./mcp/mcpLogout.ts") },
];

const permissionCommands: readonly CommandEntry[] = [
  {
    name: "list",
    takes: "[options]",
    summary: "the mode, the rules, and the answers that hold for good in this directory",
    load: () => import("./permissionsList.ts"),
  },
  {
    name: "explain",
    takes: "[options] <tool> [arguments...]",
    summary: "what would be decided about a call, and why; runs nothing",
    load: () => import("./permissionsExplain.ts"),
  },
  {
    name: "revoke",
    takes: "<ids...>",
    summary: "forget answers",
    load: () => import("./permissionsRevoke.ts"),
  },
];

const sessionCommands: readonly CommandEntry[] = [
  {
    name: "list",
    takes: "[options]",
    summary: "the conversations of this directory, the last first",
    load: async () => ({ define: (await import("./sessions.ts")).list }),
  },
  {
    name: "show",
    takes: "[session]",
    summary: "a conversation as Markdown",
    load: async () => ({ define: (await import("./sessions.ts")).show }),
  },
  {
    name: "export",
    takes: "[options] [session]",
    summary: "a conversation as one page, or as Markdown",
    load: async () => ({ define: (await import("./sessions.ts")).exportOne }),
  },
  {
    name: "delete",
    takes: "<sessions...>",
    summary: "delete conversations with all that is kept of them",
    load: async () => ({ define: (await import("./sessions.ts")).remove }),
  },
];

const configCommands: readonly CommandEntry[] = [
  {
    name: "get",
    takes: "[options] [key]",
    summary: "what is set, and where it comes from",
    load: async () => ({ define: (await import("./config/configCommands.ts")).defineGet }),
  },
  {
    name: "set",
    takes: "[options] <key> <values...>",
    summary: "set a key in your own file, or with --project in .toolcrib.json",
    load: async () => ({ define: (await import("./config/configCommands.ts")).defineSet }),
  },
  {
    name: "edit",
    takes: "[options]",
    summary: "open the file in $VISUAL or $EDITOR, and check it afterwards",
    load: async () => ({ define: (await import("./config/configCommands.ts")).defineEdit }),
  },
  {
    name: "path",
    takes: "[options]",
    summary: "where the file is",
    load: async () => ({ define: (await import("./config/configCommands.ts")).definePath }),
  },
  {
    name: "trust",
    takes: "[options]",
    summary: "use .toolcrib.json of this directory as it is now; a changed file asks again",
    load: async () => ({ define: (await import("./config/configCommands.ts")).defineTrust }),
  },
];

const rootCommands: readonly CommandEntry[] = [
  {
    name: "run",
    takes: "[options] [prompt...]",
    summary: "one task: the answer on stdout, tool calls on stderr",
    load: () => import("./run/run.ts"),
  },
  { name: "chat", takes: "[options]", summary: "a conversation in the terminal", load: () => import("./chat/chat.ts") },
  { name: "tools", summary: "the tools by themselves, without a model", commands: toolCommands },
  {
    name: "demo",
    summary: "a survey of this directory by the offline stand-in: no key, no network",
    load: () => import("./demo.ts"),
  },
  {
    name: "init",
    takes: "[dir]",
    summary: "a small project with an agent and a tool of your own",
    load: () => import("./init.ts"),
  },
  {
    name: "doctor",
    takes: "[options]",
    summary: "what is wrong in this project, and what an upgrade would change",
    load: () => import("./doctor.ts"),
  },
  {
    name: "config",
    summary: "what holds without a flag: your own settings, and this directory's",
    commands: configCommands,
  },
  { name: "acp", summary: "the agent of an editor (Agent Client Protocol)", load: () => import("./acp.ts") },
  { name: "container", summary: "toolcrib in a container: --container run …", load: () => import("./container.ts") },
  {
    name: "permissions",
    summary: "what may run here, and the answers that are remembered",
    commands: permissionCommands,
  },
  { name: "sessions", summary: "the conversations of this directory", commands: sessionCommands },
  { name: "mcp", summary: "the tools over MCP, and the MCP servers of this directory", commands: mcpCommands },
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
  const define = async (command: Command): Promise<void> => {
    const loaded = await entries.get(command)?.load?.();
    loaded?.define(command, toAction);
  };
  const takes = (command: Command): string =>
    command.name() === "help" ? "[command...]" : (entries.get(command)?.takes ?? "");
  const addAll = (parent: Command, children: readonly CommandEntry[]): void => {
    for (const entry of children) {
      const command = parent.command(entry.name).description(entry.summary);
      entries.set(command, entry);
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
  const { nearestName } = await import("@toolcrib/core");
  const names = parent.commands.map((one) => one.name());
  const nearest = nearestName(name, names);
  return usageError(`help: ${parent.name()} has no command ${name}${nearest ? `; did you mean ${nearest}?` : ""}`);
}
