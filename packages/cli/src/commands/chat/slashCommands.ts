import { nearestName, oneLine } from "@toolcrib/core/internal";
import { permissionFlags } from "../../sharedFlags.ts";
import { describePermissions } from "../../tools/permissions.ts";
import { describeContext, describeUsage } from "./describeContext.ts";
import { describePrompts, describeServers, promptPrefix, runPrompt } from "./mcpPrompts.ts";
import { describeCompacted, exportTo, resume, undoTurn } from "./sessionCommands.ts";
import { changeJobs, changeMode, changeModel, changeTools } from "./settingCommands.ts";
import type { CommandReply, SlashCommand, SlashContext } from "./slashContext.ts";

/** The commands of the conversation, by their headings in `/help`. */
const slashGroups: Readonly<Record<string, readonly SlashCommand[]>> = {
  "The conversation": [
    {
      name: "answer",
      summary: "answer the questions that wait",
      async run({ conversation, turn }) {
        if (!conversation.hasQuestions) return "No question waits.";
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
      summary: "replace the conversation with a summary",
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
      summary: "restore the files that the last turn changed",
      run: ({ conversation, program }) => undoTurn(conversation, program.cwd),
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
  "Model and permissions": [
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
      name: "permissions",
      summary: "show what runs, needs your answer or is refused, and the remembered answers",
      run: async ({ conversation }) => (await describePermissions(conversation.permissions)).join("\n"),
    },
    {
      name: "context",
      summary: "show the parts of a request, with their tokens and instruction files",
      run: ({ conversation }) => describeContext(conversation),
    },
    {
      name: "stats",
      summary: "messages, tokens and cost so far",
      run: ({ conversation }) => describeUsage(conversation),
    },
  ],
  "Tools and servers": [
    {
      name: "tools",
      takes: "[enable|disable NAME]",
      summary: "show the tools, or turn one on or off",
      complete: ({ conversation }, words) =>
        words.length === 0
          ? ["enable", "disable"]
          : words.length === 1
            ? conversation.agent.toolRegistry.getToolNames()
            : [],
      run: ({ conversation }, words) => changeTools(conversation, words),
    },
    {
      name: "calls",
      takes: "[NUMBER]",
      summary: "show the last call, or more calls, in full (also Ctrl-O)",
      run: ({ calls, program }, [number = "1"]) =>
        calls.describe(program.host.stderr.columns || 80, Math.max(1, Number.parseInt(number, 10) || 1)),
    },
    {
      name: "jobs",
      takes: "[stop ID]",
      summary: "show the commands in the background, or stop one",
      complete: ({ jobs }, words) =>
        words.length === 0 ? ["stop"] : words.length === 1 ? jobs.list().map(({ id }) => id) : [],
      run: ({ jobs, conversation: { parts } }, words) =>
        parts.flags.remote
          ? `Commands in the background of ${oneLine(parts.flags.remote.name, 100)} are known only to the model: ask it to stop one.`
          : changeJobs(jobs, words),
    },
    {
      name: "mcp",
      summary: "show the MCP servers, whether they are used, and their tools",
      run: describeServers,
    },
    {
      name: "prompts",
      summary: "show the prompts of MCP servers: /mcp__SERVER__PROMPT sends one",
      run: describePrompts,
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

/** The names that our commands have in other programs. */
const otherNames: Readonly<Record<string, string>> = {
  clear: "new reset",
  compact: "compress",
  context: "memory skills",
  jobs: "bashes",
  mode: "approvals",
  "mode plan": "plan",
  permissions: "allowed-tools",
  quit: "bye",
  resume: "continue sessions",
  stats: "cost status tokens usage",
  undo: "rewind",
};

/** The keys of a terminal whose rows can change. */
const keys: readonly (readonly [key: string, what: string])[] = [
  ["Enter", "sends the message, after the present turn"],
  ["Up, Down", "earlier messages; Up takes back a waiting one"],
  ["Tab", "completes a command, a word or a file after @"],
  ["Esc", "ends the turn"],
  ["Shift-Tab", "ask, accept-edits, plan"],
  ["Ctrl-O", "shows calls and thinking in full, or closes that"],
  ["Ctrl-R", "searches your earlier input"],
  ["Ctrl-L", "clears the screen"],
  ["Ctrl-V", "adds the picture in the clipboard"],
  ["Alt-Enter, Ctrl-J", "another line of the message"],
  ["@FILE, !COMMAND", "adds a file; runs your own command"],
  ["Ctrl-C", "ends the answer, or clears the line; twice leaves"],
  ["Ctrl-D, exit", "leaves"],
];

export async function runSlashCommand(line: string, context: SlashContext): Promise<CommandReply> {
  const [typed = "", ...words] = line.split(/\s+/);
  const name = typed === "/exit" ? "quit" : typed.slice(1);
  const commands = slashCommands(context);
  const command = commands.find((one) => one.name === name);
  if (command) return command.run(context, words, line.slice(typed.length).trim());
  if (name.startsWith(promptPrefix)) return runPrompt(name, words, context);
  const names = commands.map((one) => one.name);
  const [meant] = Object.entries(otherNames).find(([, others]) => others.split(" ").includes(name)) ?? [];
  const ours = meant ?? nearestName(name, names);
  return `There is no command ${typed}${ours === undefined ? ";" : `; did you mean /${ours}?`} /help lists them.`;
}

/** Lists commands and keys in two columns; in a narrow window each summary is below its command. */
function helpText({ more, program }: SlashContext): string {
  const { bold } = program.terminal.style;
  const isNarrow = (program.host.stderr.columns || 80) < 60;
  const row = (what: string, summary: string): string =>
    isNarrow ? `  ${what}\n      ${summary}` : `  ${what.padEnd(28)}  ${summary}`;
  const groups = Object.entries({ ...slashGroups, ...more }).map(([heading, commands]) => [
    bold(heading),
    ...commands.map(({ name, takes, summary }) => row(`/${name} ${takes ?? ""}`.trimEnd(), summary)),
  ]);
  return [...groups, [bold("Keys"), ...keys.map(([key, what]) => row(key, what))]]
    .map((rows) => rows.join("\n"))
    .join("\n\n");
}
