import { basename } from "node:path";
import type { AgentEvent, Compacted } from "@toolcrib/agent";
import { nearestName } from "@toolcrib/core/internal";
import type { BackgroundJobs } from "@toolcrib/tools-bash";
import type { Program } from "../../program.ts";
import { permissionFlags } from "../../sharedFlags.ts";
import { writeNewFile } from "../../state/givenFile.ts";
import { describeSession, exportSession, numberedRows } from "../../state/sessionFile.ts";
import { oneLine } from "../../terminal/render.ts";
import { describePermissions, modeWords } from "../../tools/permissions.ts";
import type { Conversation } from "../conversation.ts";
import { describeContext, describeLastExchange, describeUsage } from "./describeContext.ts";

/** A command of the conversation: a line that begins with a slash. */
export interface SlashCommand {
  /** Without the slash. */
  readonly name: string;
  /** Its arguments, as `/help` shows them. */
  readonly takes?: string;
  readonly summary: string;
  /** Lists candidates for the next word after `words`. */
  complete?(context: SlashContext, words: readonly string[]): readonly string[] | Promise<readonly string[]>;
  /** Gives what the user is told, if anything. */
  run(context: SlashContext, words: readonly string[]): Told | Promise<Told>;
}

type Told = string | undefined;

/** What a command works on. */
export interface SlashContext {
  readonly program: Program;
  readonly conversation: Conversation;
  readonly jobs: BackgroundJobs;
  /** `PROVIDER/MODEL`. */
  readonly model: string;
  /** Changes the model; resolves to why it is that one, where the user has left something open. */
  useModel(name: string): Promise<string | undefined>;
  /** Runs a turn of the conversation and shows its events. */
  turn(start: (signal: AbortSignal) => AsyncIterable<AgentEvent>): Promise<void>;
  /** Sends the model the last command of the user's own, with words about it. */
  share(words: readonly string[]): Promise<Told>;
  /** Lets the user pick one of the rows: its number from 0; undefined where none was picked. Absent where rows cannot change. */
  readonly pick?: ((rows: readonly string[]) => Promise<number | undefined>) | undefined;
  /** Ends the conversation once the command has run. */
  leave(): void;
}

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
        shortened(await program.interrupts.during((signal) => conversation.agent.compact({ signal }))),
    },
    {
      name: "resume",
      takes: "[NUMBER|ID]",
      summary: "show the conversations of this directory, or continue one",
      run: (context, [number]) => resume(context, number),
    },
    {
      name: "undo",
      summary: "put the files back as they were before the last turn; again goes further back",
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
      summary: "show the model, or change it",
      async run(context, [name]) {
        const why = name === undefined ? undefined : await context.useModel(name);
        return why ?? context.model;
      },
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
      run: ({ conversation }, words) => tools(conversation, words),
    },
    {
      name: "permissions",
      summary: "show what runs, is asked about and is refused, and the answers that are remembered",
      run: async ({ conversation }) => (await describePermissions(conversation.permissions)).join("\n"),
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
          : jobsAnswer(jobs, words),
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
    { name: "help", summary: "this list", run: () => helpText() },
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

export const slashCommands: readonly SlashCommand[] = Object.values(slashGroups).flat();

/** The keys of a terminal whose rows can change. */
const keys: readonly (readonly [key: string, what: string])[] = [
  ["Esc", "ends the answer that is coming"],
  ["Shift-Tab", "ask, accept-edits, plan"],
  ["Ctrl-O", "opens what was shown in a few rows, and closes it"],
  ["Ctrl-R", "searches what you typed before"],
  ["Alt-Enter, Ctrl-J", "another line of the message"],
  ["@FILE, !COMMAND", "completes a file; runs a command of your own"],
  ["Ctrl-C", "ends the answer, or clears the line; twice leaves"],
  ["Ctrl-D, exit", "leaves"],
];

/** Runs the command that `line` names. */
export async function runSlashCommand(line: string, context: SlashContext): Promise<Told> {
  const [typed = "", ...words] = line.split(/\s+/);
  const name = typed === "/exit" ? "quit" : typed.slice(1);
  const command = slashCommands.find((one) => one.name === name);
  if (command) return command.run(context, words);
  const nearest = nearestName(
    typed,
    slashCommands.map((one) => `/${one.name}`),
  );
  return `There is no command ${typed}${nearest ? `; did you mean ${nearest}?` : ";"} /help lists them.`;
}

function helpText(): string {
  const row = (what: string, summary: string): string => `  ${what.padEnd(28)} ${summary}`;
  const groups = Object.entries(slashGroups).map(([heading, commands]) => [
    heading,
    ...commands.map(({ name, takes, summary }) => row(`/${name} ${takes ?? ""}`.trimEnd(), summary)),
  ]);
  return [...groups, ["Keys", ...keys.map(([key, what]) => row(key, what))]]
    .map((rows) => rows.join("\n"))
    .join("\n\n");
}

function changeMode(conversation: Conversation, name: string | undefined): string {
  const modes = permissionFlags.mode.value;
  const mode = modes.find((one) => one === name);
  if (name !== undefined && !mode) return `There is no mode ${name}; the modes are ${modes.join(", ")}.`;
  if (mode) conversation.setMode(mode);
  const { mode: now } = conversation.permissions;
  return `${now}: ${modeWords[now]}.`;
}

function tools({ agent }: Conversation, [verb, name = ""]: readonly string[]): string {
  const registry = agent.toolRegistry;
  if (verb === undefined) {
    return registry
      .listTools()
      .map((tool) => `${tool.enabled ? "on " : "off"}  ${tool.name}`)
      .join("\n");
  }
  if (verb !== "enable" && verb !== "disable") return "Write /tools, /tools enable NAME or /tools disable NAME.";
  const known = verb === "enable" ? agent.enableTool(name) : agent.disableTool(name);
  if (known) return `${name} is ${registry.isToolEnabled(name) ? "on" : "off"}.`;
  const nearest = nearestName(name, registry.getToolNames());
  return `There is no tool ${name || "without a name"}${nearest ? `; did you mean ${nearest}?` : "."}`;
}

async function jobsAnswer(jobs: BackgroundJobs, [verb, id = ""]: readonly string[]): Promise<string> {
  if (verb === "stop")
    return (await jobs.stop(id))
      ? `${id} has ended.`
      : `There is no job ${oneLine(id, 40) || "without an id"}; /jobs lists them.`;
  if (verb !== undefined) return "Write /jobs, or /jobs stop ID.";
  const rows = jobs.list().map(({ id, running, exitCode, command }) => {
    const state = running ? "running" : `exit ${exitCode}`;
    return `${id}  ${state.padEnd(8)}  ${oneLine(command, 100)}`;
  });
  return rows.length > 0 ? rows.join("\n") : "No command was started in the background.";
}

function shortened(done: Compacted | undefined): string {
  if (!done) return "There is nothing to shorten.";
  return `A summary stands for ${done.summarisedMessages} messages now.`;
}

/** The list of conversations, or which one is continued. */
async function resume({ conversation, pick }: SlashContext, name: string | undefined): Promise<Told> {
  const { sessions } = conversation;
  const found = await sessions.list();
  if (found.length === 0) return "No conversation was held in this directory yet.";
  const rows = found.map(describeSession);
  if (name === undefined && !pick) return `${numberedRows(rows)}\n/resume NUMBER continues one.`;
  const chosen = name === undefined ? found[(await pick?.(rows)) ?? -1] : await sessions.find(name);
  if (!chosen)
    return name && `There is no conversation ${name}: write /resume and an id, or a number from 1 to ${found.length}.`;
  await conversation.switchTo(chosen.file);
  const last = describeLastExchange(conversation);
  return `Continuing  ${describeSession(chosen)}: ${conversation.agent.sessionContext.length} messages.${last === undefined ? "" : `\n\n${last}`}`;
}

async function undoTurn({ undo, remote }: Conversation): Promise<Told> {
  if (remote) return `/undo takes back changes here alone: those on ${oneLine(remote.name, 100)} stay.`;
  if (!undo) return "Nothing was kept to undo: this conversation is not among those of this directory.";
  const undone = await undo.undo();
  if (!undone) return "There is no turn left that changed anything.";
  const { describeUndone } = await import("@toolcrib/tools-fs/undo");
  return describeUndone(undone, process.cwd());
}

/** Writes the conversation to a new file. */
async function exportTo({ program, conversation }: SlashContext, words: readonly string[]): Promise<Told> {
  const { journal } = conversation;
  if (journal === undefined || conversation.agent.sessionContext.length === 0) return "There is nothing to export yet.";
  const file = words.join(" ") || `${basename(journal, ".jsonl")}.html`;
  const content = await exportSession(journal, file.endsWith(".md") ? "md" : "html", program.env);
  writeNewFile(file, content);
  return `Written to ${oneLine(file, 200)}. It holds what was said and read: look through it before you share it.`;
}
