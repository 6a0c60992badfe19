import { join } from "node:path";
import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  type Answers,
  type ChatOptions,
  newSessionFile,
  type Provider,
} from "@toolcrib/agent";
import type { Instructions } from "@toolcrib/agent/instructions";
import { isJournal, type SessionFolder } from "@toolcrib/agent/sessions";
import type { Guard } from "@toolcrib/core";
import type { McpMount } from "@toolcrib/mcp";
import type { BackgroundJobs } from "@toolcrib/tools-bash";
import type { Undo } from "@toolcrib/tools-fs/undo";
import { keptSessions } from "../config/keptSessions.ts";
import { CliError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import {
  makeSessionFolder,
  numberedRows,
  type PickRow,
  resumedFile,
  type SessionFlags,
  sessionsOf,
} from "../state/sessionFile.ts";
import type { Asker } from "../terminal/ask.ts";
import { oneLine } from "../terminal/render.ts";
import { answersTo } from "../tools/approval.ts";
import type { McpFlag } from "../tools/mcpTools.ts";
import { createPermissions, type PermissionFlags, type Permissions } from "../tools/permissions.ts";
import { connectPlace } from "../tools/place.ts";
import { chooseSandbox } from "../tools/sandbox.ts";
import { createToolSet, rootsOf, type ToolFlags } from "../tools/toolSet.ts";
import { instructionsFor, systemPromptFor, workplaceOf } from "./systemPrompt.ts";

/** Flags of the commands that talk to a model. */
export interface ConversationFlags extends ToolFlags, PermissionFlags, SessionFlags, McpFlag {
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly maxSteps?: number | undefined;
  /** False by `--no-context-files`. */
  readonly contextFiles?: boolean | undefined;
  /** Not a flag: servers that are mounted already, in place of those of `mcp`. They are closed with the conversation. */
  readonly mounted?: McpMount | undefined;
  /** Not a flag: ends the connection to the place of `on`, also while it is made. */
  readonly signal?: AbortSignal | undefined;
}

/** An agent with the CLI's tools, whose conversation a journal keeps as it grows. */
export interface Conversation {
  readonly agent: Agent;
  /** Whether a call was refused: by a rule, by the user, or because nobody could be asked. */
  readonly denied: boolean;
  /** The conversations of this directory. */
  readonly sessions: SessionFolder;
  /** The journal of this one; undefined where none can be kept. */
  readonly journal: string | undefined;
  /** The place of `--on`. */
  readonly place: ToolFlags["place"];
  /** Takes turns back; undefined for a conversation that is kept elsewhere, or not at all, and for another place. */
  readonly undo: Undo | undefined;
  turn(message: string, signal: AbortSignal, options?: ChatOptions): AsyncGenerator<AgentEvent, void>;
  /** Asks the user about the calls that wait, and goes on where they were answered. */
  answer(signal: AbortSignal): AsyncGenerator<AgentEvent, void>;
  readonly permissions: Permissions;
  /** The files that the system prompt holds as instructions. */
  readonly instructions: Instructions;
  /** The same conversation with another model. */
  useModel(provider: Provider): void;
  /** Continues the conversation of `file`, or starts a new one. The tools stay on or off as they are. */
  switchTo(file?: string): Promise<void>;
  /** Ends the servers that `--mcp` started, and the connection to the place of `--on`. */
  close(): Promise<void>;
}

/** With `jobs` commands may run in the background. Throws usage errors, and `bad_session` for a file that does not hold a conversation. */
export async function openConversation(
  provider: Provider,
  given: ConversationFlags,
  program: Program,
  asker: () => Asker | undefined,
  jobs?: BackgroundJobs,
): Promise<Conversation> {
  const sessions = sessionsOf(given.directory ?? process.cwd(), program.env);
  // First: what cannot be resumed connects nothing.
  const resumed = await resumedFile(given, sessions, pickOf(asker, program.terminal));
  const connected = await connectPlace(given, program, { background: jobs !== undefined, signal: given.signal });
  try {
    return await openConnected(provider, connected, program, asker, jobs, { sessions, resumed });
  } catch (error) {
    await connected.place?.close();
    throw error;
  }
}

async function openConnected(
  provider: Provider,
  connected: ConversationFlags,
  program: Program,
  asker: () => Asker | undefined,
  jobs: BackgroundJobs | undefined,
  { sessions, resumed }: { readonly sessions: SessionFolder; readonly resumed: string | undefined },
): Promise<Conversation> {
  const { terminal, env } = program;
  const flags = await chooseSandbox(connected, program);
  const { place } = flags;
  if (place) terminal.aside(`The tools work on ${place.name}, in ${place.roots?.join(", ")}.`);
  const { directory = process.cwd() } = flags;
  const problem = makeSessionFolder(directory, env);
  sessions.removeLost();
  if (problem) terminal.aside(`The conversation could not be saved: ${problem}`);
  const readable = problem === undefined ? [sessions.outputs] : [];
  // Before the servers: a wrong rule starts none.
  const permissions = createPermissions(flags, rootsOf(flags), program, "ask", readable);
  const mount =
    flags.mounted ??
    (flags.mcp ? await (await import("../tools/mcpMount.ts")).mountServers(program, asker()) : undefined);
  let denied = false;
  const guard: Guard = async (call) => {
    const decision = await permissions.policy.guard(call);
    // What the tool itself refuses, a path outside the roots, is not a decision about the call.
    const isDenied = decision === false || typeof decision === "string";
    if (isDenied && call.effectsError === undefined) denied = true;
    return decision;
  };
  const watched = { ...permissions, policy: { ...permissions.policy, guard } };
  let model = provider;
  const current: Provider = {
    get name() {
      return model.name;
    },
    get model() {
      return model.model;
    },
    send: (request) => model.send(request),
  };
  let lock: { readonly journal: string; release(): void } | undefined;
  const roots = rootsOf(flags);
  let instructions: Instructions;
  let undo: Undo | undefined;
  const open = async (file?: string): Promise<Agent> => {
    instructions = await instructionsFor(roots, flags, program);
    const isOwn = file !== undefined && (await isJournal(file));
    const journal = isOwn ? file : problem === undefined ? newSessionFile(sessions.path) : undefined;
    // The tools of another place could not read them.
    const outputs = place ? undefined : sessions.outputsOf(journal);
    // An editor has its own.
    const old = flags.directory === undefined && !place ? sessions.undoOf(journal) : undefined;
    const onError = ({ message }: Error): void => terminal.aside(message);
    const undoOptions = old === undefined ? undefined : { directory: old, root: roots, onError };
    const next = undoOptions && (await import("@toolcrib/tools-fs/undo")).createUndo(undoOptions);
    const options: AgentOptions = {
      tools: (context) =>
        createToolSet(flags, watched, program, { context, more: mount?.tools, outputs, jobs, undo: next?.middleware }),
      sessionContextFilePath: `${(journal ?? join(sessions.path, "session")).replace(/\.jsonl$/, "")}.json`,
      ...(journal !== undefined && { journal }),
      onJournalError: ({ message }) => terminal.aside(`${message} The conversation goes on unsaved.`),
      ...(flags.maxSteps !== undefined && { maxSteps: flags.maxSteps }),
    };
    const isHeld = journal === lock?.journal;
    const taken = journal === undefined || isHeld ? undefined : await sessions.lock(journal);
    try {
      const opened = file === undefined ? new Agent(current, options) : await Agent.resume(current, file, options);
      const before = workplaceOf(opened.systemPrompt);
      opened.setSystemPrompt(systemPromptFor(roots, instructions, place));
      const now = workplaceOf(opened.systemPrompt);
      if (before !== undefined && before !== now)
        terminal.aside(`This conversation was about files in ${oneLine(before, 200)}, not in ${now}.`);
      // Only now: a file that cannot be resumed leaves the conversation, and its journal, as they were.
      if (!isHeld) lock?.release();
      if (!isHeld) lock = taken && journal !== undefined ? { journal, release: taken.release } : undefined;
      undo = next;
      return opened;
    } catch (error) {
      taken?.release();
      throw error;
    }
  };

  const ask = async (signal: AbortSignal): Promise<Answers | undefined> => {
    const user = asker();
    const { toolRegistry: registry, pending } = agent;
    const note = (line: string): void => terminal.aside(line);
    const answers =
      user && (await answersTo(pending, { asker: user, permissions, registry, style: terminal.style, signal, note }));
    if (!answers && signal.aborted)
      throw new CliError("interrupted", "Interrupted. The question stays open: toolcrib chat -c asks again.");
    if (!answers || Object.values(answers).some((answer) => answer !== true)) denied = true;
    return answers;
  };
  /** The calls that wait are on disk before they are asked about, so a question outlives the process. */
  async function* untilAnswered(
    events: AsyncIterable<AgentEvent>,
    signal: AbortSignal,
    { toolChoice: _, ...options }: ChatOptions = {},
  ): AsyncGenerator<AgentEvent> {
    const shown = new Set<string>();
    for (let turn: AsyncIterable<AgentEvent> | undefined = events; turn; ) {
      let end: AgentEvent | undefined;
      for await (const event of turn) {
        if (event.type === "end" && event.reason === "approval") end = event;
        // A call that was asked about starts anew after the answer.
        else if (event.type !== "tool-call" || !shown.has(event.id)) yield event;
        if (event.type === "tool-call") shown.add(event.id);
      }
      turn = undefined;
      const answers: Answers | undefined = end && (await ask(signal));
      if (answers) turn = agent.streamApprove(answers, { ...options, signal });
      else if (end) yield end;
    }
  }

  const close = async (): Promise<void> => {
    try {
      // The present one is still held.
      const { days, megabytes } = await keptSessions(env);
      const { sessions: count } = await sessions.prune({ maxAgeDays: days, maxBytes: megabytes * 2 ** 20 });
      const what = count === 1 ? "1 old conversation" : `${count} old conversations`;
      const limits = `${days} days, ${megabytes} MB in all`;
      if (count > 0) terminal.aside(`Removed ${what} (${limits}).`);
    } finally {
      lock?.release();
      await Promise.all([mount?.close(), place?.close()]);
    }
  };
  let agent = await open(resumed).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    sessions,
    place,
    get journal() {
      return lock?.journal;
    },
    get undo() {
      return undo;
    },
    get agent() {
      return agent;
    },
    get denied() {
      return denied;
    },
    permissions,
    get instructions() {
      return instructions;
    },
    turn(message, signal, options) {
      // First: it may have been taken back in another process.
      const note = undo?.takeNote();
      undo?.begin(message.trim().split("\n", 1)[0] ?? "");
      const sent = note === undefined ? message : `${note}\n\n${message}`;
      return untilAnswered(agent.streamChat(sent, { ...options, signal }), signal, options);
    },
    async *answer(signal) {
      const answers = await ask(signal);
      undo?.begin("your answers");
      if (answers) yield* untilAnswered(agent.streamApprove(answers, { signal }), signal);
    },
    useModel(next) {
      model = next;
    },
    async switchTo(file) {
      const before = agent.toolRegistry;
      agent = await open(file);
      for (const name of before.getToolNames()) {
        if (before.isToolEnabled(name)) agent.enableTool(name);
        else agent.disableTool(name);
      }
    },
    close,
  };
}

/** Asks for a number of a list; undefined where there is nobody to ask. */
function pickOf(asker: () => Asker | undefined, { note }: Program["terminal"]): PickRow | undefined {
  const user = asker();
  return (
    user &&
    (async (rows) => {
      note(numberedRows(rows));
      const answer = await user.ask("Number of the conversation: ", undefined);
      return /^\d+$/.test(answer ?? "") ? Number(answer) - 1 : undefined;
    })
  );
}
