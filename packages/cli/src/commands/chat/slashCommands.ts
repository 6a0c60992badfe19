import { nearestName } from "@toolcrib/core/internal";
import { permissionFlags } from "../../sharedFlags.ts";
import { oneLine } from "../../terminal/render.ts";
import { describePermissions } from "../../tools/permissions.ts";
import { describeContext, describeUsage } from "./describeContext.ts";
import { describePrompts, promptPrefix, runPrompt } from "./mcpPrompts.ts";
import { describeCompacted, exportTo, resume, undoTurn } from "./sessionCommands.ts";
import { changeJobs, changeMode, changeModel, changeTools } from "./settingCommands.ts";
import type { SlashCommand, SlashContext, Told } from "./slashContext.ts";

/** The commands of the conversation, by their headings in `/help`. */
const slashGroups: Readonly<Record<string, readonly SlashCommand[]>> = {
  "The conversation": [
    {
      name: "answer",
      summary: "answer the questions that wait",
      async run({ conversation, turn }) {
        if (conversation.agent.pending.length === 0) return "No question waits.";
        await turn((signal) => conversation.answer(signal));
        return undefined;
      },
    },
    {
      name: "clear",
      summary: "start a new conversation",
      async run({ conversation }) {
        await conversation.switchTo();
        return "A new conversation begins; /resume finds the one before.";
      },
    },
    {
      name: "compact",
      summary: "begin the conversation anew with a summary",
      run: async ({ program, conversation }) =>
        describeCompacted(await program.interrupts.during((signal) => conversation.agent.compact({ signal }))),
    },
    {
      name: "resume",
      takes: "[NUMBER|ID]",
      summary: "show the conversations of this directory, or continue one",
      run: (context, [number]) => resume(context, number),
    },
    {
      name: "undo",
      summary: "put the files back as they were before the last turn that changed any",
      run: ({ conversation }) => undoTurn(conversation),
    },
    {
      name: "export",
      takes: "[FILE]",
      summary: "write the conversation to a page, or to FILE.md",
      run: exportTo,
    },
    {
      name: "share",
      takes: "[WORDS]",
      summary: "show the model your last !COMMAND",
      run: ({ share }, words) => share(words),
    },
  ],
  "How it works": [
    {
      name: "model",
      takes: "[PROVIDER/MODEL]",
      summary: "pick another model, or name it",
      run: (context, [name]) => changeModel(context, name),
    },
    {
      name: "mode",
      takes: "[MODE]",
      summary: "show how calls are decided, or change it (also Shift-Tab)",
      complete: (_context, words) => (words.length === 0 ? permissionFlags.mode.value : []),
      run: ({ conversation }, [name]) => changeMode(conversation, name),
    },
    {
      name: "tools",
      takes: "[enable|disable NAME]",
      summary: "show the tools, or switch one on or off",
      complete: ({ conversation }, words) =>
        words.length === 0
          ? ["enable", "disable"]
          : words.length === 1
            ? conversation.agent.toolRegistry.getToolNames()
            : [],
      run: ({ conversation }, words) => changeTools(conversation, words),
    },
    {
      name: "permissions",
      summary: "show what runs, is asked about and is refused, and the answers that are remembered",
      run: async ({ conversation }) => (await describePermissions(conversation.permissions)).join("\n"),
    },
    {
      name: "calls",
      takes: "[NUMBER]",
      summary: "show the last call whole, or so many (also Ctrl-O)",
      run: ({ calls }, [number = "1"]) =>
        calls.describe(Math.max(1, Number.parseInt(number, 10) || 1), process.stderr.columns || 80),
    },
    {
      name: "jobs",
      takes: "[stop ID]",
      summary: "show the commands that run in the background, or end one",
      complete: ({ jobs }, words) =>
        words.length === 0 ? ["stop"] : words.length === 1 ? jobs.list().map(({ id }) => id) : [],
      run: ({ jobs, conversation: { remote } }, words) =>
        remote
          ? `Commands in the background of ${oneLine(remote.name, 100)} are known to the model alone: ask it to stop one.`
          : changeJobs(jobs, words),
    },
    {
      name: "prompts",
      summary: "show the prompts of MCP servers: /mcp__SERVER__PROMPT sends one",
      run: describePrompts,
    },
    {
      name: "context",
      summary: "what a request holds: instructions files, and tokens of each part",
      run: ({ conversation }) => describeContext(conversation),
    },
    {
      name: "stats",
      summary: "messages, tokens and cost so far",
      run: ({ conversation }) => describeUsage(conversation),
    },
  ],
  "The program": [
    { name: "help", summary: "this list", run: helpText },
    {
      name: "quit",
      summary: "leave (also Ctrl-D)",
      run({ leave }) {
        leave();
        return undefined;
      },
    },
  ],
};

const builtIn: readonly SlashCommand[] = Object.values(slashGroups).flat();

/** Lists the commands; a built-in one goes before another of its name. */
export function slashCommands({ more }: SlashContext): readonly SlashCommand[] {
  const others = Object.values(more).flat();
  return [...builtIn, ...others.filter(({ name }) => !builtIn.some((one) => one.name === name))];
}

/** The keys of a terminal whose rows can change. */
const keys: readonly (readonly [key: string, what: string])[] = [
  ["Esc", "ends the answer that is coming"],
  ["Shift-Tab", "ask, accept-edits, plan"],
  ["Ctrl-O", "opens what was shown in a few rows, and closes it"],
  ["Ctrl-R", "searches what you typed before"],
  ["Alt-Enter, Ctrl-J", "another line of the message"],
  ["@FILE, !COMMAND", "sends a file along; runs a command of your own"],
  ["Ctrl-C", "ends the answer, or clears the line; twice leaves"],
  ["Ctrl-D, exit", "leaves"],
];

/** Runs the command that `line` names. */
export async function runSlashCommand(line: string, context: SlashContext): Promise<Told> {
  const [typed = "", ...words] = line.split(/\s+/);
  const name = typed === "/exit" ? "quit" : typed.slice(1);
  const commands = slashCommands(context);
  const command = commands.find((one) => one.name === name);
  if (command) return command.run(context, words, line.slice(typed.length).trim());
  if (name.startsWith(promptPrefix)) return runPrompt(name, words, context);
  const nearest = nearestName(
    typed,
    commands.map((one) => `/${one.name}`),
  );
  return `There is no command ${typed}${nearest ? `; did you mean ${nearest}?` : ";"} /help lists them.`;
}

function helpText({ more }: SlashContext): string {
  const row = (what: string, summary: string): string => `  ${what.padEnd(28)} ${summary}`;
  const groups = Object.entries({ ...slashGroups, ...more }).map(([heading, commands]) => [
    heading,
    ...commands.map(({ name, takes, summary }) => row(`/${name} ${takes ?? ""}`.trimEnd(), summary)),
  ]);
  return [...groups, ["Keys", ...keys.map(([key, what]) => row(key, what))]]
    .map((rows) => rows.join("\n"))
    .join("\n\n");
}
