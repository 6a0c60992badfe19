import { Command, Option } from "commander";
import { type Ending, usageError } from "../endings.ts";
import { waysToConnect } from "../model/waysToConnect.ts";
import type { Program } from "../program.ts";
import type { ToolFlags } from "../tools/toolSet.ts";
import type { ConversationFlags } from "./conversation.ts";
import { addMcpCommands } from "./mcpCommands.ts";
import type { RunFlags } from "./run.ts";
import type { ToolsCallFlags } from "./toolsCall.ts";

/**
 * The commands and their flags. Each command is loaded when it is used; `ended` gets how it ended. Parsing throws a
 * CommanderError, its `command` the one that was being parsed.
 */
export function createCommands(program: () => Promise<Program>, ended: (ending: Ending) => void): Command {
  const root = new Command("toolcrib")
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

  const run = root
    .command("run")
    .description("one task: the answer on stdout, tool calls on stderr")
    .argument("[prompt...]", "what to do; @FILE puts a file in; what is piped in comes first")
    .option("-p, --prompt [text]", "the prompt, too")
    .addOption(new Option("--json", "print one JSON object at the end").conflicts("jsonl"))
    .option("--jsonl", "print each event as a line of JSON");
  withConversation(run).action(async (words: string[], { prompt, ...flags }: RunFlags) => {
    const command = await import("./run.ts");
    ended(await command.run(words, typeof prompt === "string" ? { ...flags, prompt } : flags, await program()));
  });
  const chat = withConversation(root.command("chat").description("a conversation in the terminal")).action(
    async (flags: ConversationFlags) => {
      const command = await import("./chat.ts");
      ended(await command.chat(flags, await program()));
    },
  );
  const tools = addToolCommands(root, program, ended);
  const demo = root
    .command("demo")
    .description("a survey of this directory by the offline stand-in: no key, no network")
    .action(async () => {
      const command = await import("./demo.ts");
      ended(await command.demo(await program()));
    });

  const mcp = addMcpCommands(root, { program, ended, withTools: withShell });

  const helps = [root, ...tools, ...mcp].filter(({ commands }) => commands.length > 0).map(addHelp);
  for (const command of [root, run, chat, demo, ...tools, ...mcp, ...helps]) {
    command.exitOverride((error) => {
      throw Object.assign(error, { command });
    });
  }
  return root;
}

/** `help NAME…` in place of commander's, which takes a name that there is not for no name at all. */
function addHelp(parent: Command): Command {
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
      asked.outputHelp();
    });
}

async function unknownCommand(parent: Command, name: string): Promise<Error> {
  const { nearestName } = await import("@toolcrib/core");
  const nearest = nearestName(
    name,
    parent.commands.map((one) => one.name()),
  );
  return usageError(`help: ${parent.name()} has no command ${name}${nearest ? `; did you mean ${nearest}?` : ""}`);
}

function addToolCommands(root: Command, program: () => Promise<Program>, ended: (ending: Ending) => void): Command[] {
  const tools = root.command("tools").description("the tools by themselves, without a model");
  const list = withTools(tools.command("list").description("what tools there are, and which are on"))
    .option("--json", "with descriptions and parameter schemas, as JSON")
    .action(async (flags: ToolFlags) => {
      const command = await import("./toolsList.ts");
      ended(command.toolsList(flags, await program()));
    });
  const call = withShell(tools.command("call").description("call one tool"))
    .usage("[options] NAME ['{\"arg\": …}' | @FILE | --arg value …]")
    .argument("[name]", "the tool, as tools list names it")
    .argument("[arguments...]", "its arguments: --name value, --name=value, one JSON object, or @FILE that holds one")
    .option("--json", "print the outcome as JSON")
    .helpOption(false)
    .option("-h, --help", "show the arguments of the tool")
    .allowUnknownOption()
    .action(async (name: string | undefined, words: string[], flags: ToolsCallFlags) => {
      if (name === undefined) {
        if (!flags.help) throw usageError("tools call needs the name of a tool; toolcrib tools list shows them");
        return call.outputHelp();
      }
      const command = await import("./toolsCall.ts");
      ended(await command.toolsCall(name, words, flags, await program()));
    });
  return [tools, list, call];
}

function withTools(command: Command): Command {
  return command
    .option("--root <dir>", "a directory the file tools may not leave; may be given again (default: this one)", collect)
    .option("--enable <names>", "switch tools on (remove and run_bash are off)", collectNames)
    .option("--disable <names>", "switch tools off", collectNames)
    .option("--tools <names>", "only these tools", collectNames)
    .option("--exclude-tools <names>", "all but these tools", collectNames);
}

function withConversation(command: Command): Command {
  command
    .option(
      "-m, --model <provider/model>",
      "openai, anthropic, openrouter, ollama, lmstudio, llamacpp, openai-compatible or offline",
    )
    .option("--base-url <url>", "where the provider is, for -m")
    .option("-c, --continue", "go on with the last conversation of this directory")
    .option("-r, --resume <file>", "go on with a journal, or with what save_session_context wrote")
    .option("--max-steps <n>", "replies of the model at most (default: 50)", positiveInteger)
    .option("--ask", "ask before each call that may change something")
    .option("--mcp", "also the tools of the servers in .mcp.json, which it starts (see toolcrib mcp)");
  return withShell(command);
}

/** The flags that choose tools, and how `run_bash` runs its commands. */
function withShell(command: Command): Command {
  return withTools(command)
    .option("--sandbox", "run_bash: commands in a sandbox; an error where there is none (default: where there is one)")
    .option("--no-sandbox", "run_bash: commands with all your rights")
    .option("--sandbox-allow <names>", "what commands in the sandbox may use: network, sockets", collectNames);
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

function collectNames(value: string, before: readonly string[] = []): string[] {
  return [
    ...before,
    ...value
      .split(",")
      .map((name) => name.trim())
      .filter(Boolean),
  ];
}

function positiveInteger(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw usageError(`--max-steps ${value}: expected a whole number above 0`);
}
