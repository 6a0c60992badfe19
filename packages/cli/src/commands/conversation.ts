import { basename } from "node:path";
import type { Agent, AgentEvent, Answer, Answers, ChatOptions, Provider, UserContent } from "@toolcrib/agent";
import type { Instructions } from "@toolcrib/agent/instructions";
import type { SessionFolder } from "@toolcrib/agent/sessions";
import type { GuardDecision, GuardedCall } from "@toolcrib/core";
import { oneLine } from "@toolcrib/core/internal";
import { createPathScope } from "@toolcrib/kit/files";
import type { BackgroundJobs } from "@toolcrib/tools-bash";
import type { Undo } from "@toolcrib/tools-fs/undo";
import { sessionRetention } from "../config/ownSettings.ts";
import { type LoadedSkills, loadSkills, noSkills } from "../config/skills.ts";
import { CliError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import {
  isKeptSession,
  makeSessionFolder,
  type PickSession,
  resumedFile,
  sessionChoice,
  sessionsOf,
} from "../state/sessionFile.ts";
import type { Asker, PickChoice } from "../terminal/ask.ts";
import { firstLineOf, withTextBefore } from "../terminal/prompt.ts";
import { answersTo } from "../tools/approval.ts";
import { Hooks } from "../tools/hooks.ts";
import { mountFor } from "../tools/mcpTools.ts";
import { createPermissions, type Permissions, type WorkMode } from "../tools/permissions.ts";
import { lacksPrograms, withPrograms } from "../tools/programs.ts";
import { connectRemote } from "../tools/remote.ts";
import { chooseSandbox } from "../tools/sandbox.ts";
import { rootsOf, type ToolFlags } from "../tools/toolSet.ts";
import { type AgentParts, type BuiltAgent, buildAgent, type ConversationFlags, SessionLock } from "./buildAgent.ts";

interface ConversationOptions {
  /** With it commands may run in the background. */
  readonly jobs?: BackgroundJobs | undefined;
  /** Lets the user pick a conversation. */
  readonly pick?: PickChoice | undefined;
}

/** Throws usage errors, and `bad_session` for a file that does not hold a conversation. */
export async function openConversation(
  provider: Provider,
  given: ConversationFlags,
  program: Program,
  asker: () => Asker | undefined,
  { jobs, pick }: ConversationOptions = {},
): Promise<Conversation> {
  const sessions = sessionsOf(given.directory ?? program.cwd, program.folders);
  // First: what cannot be resumed connects nothing.
  const pickOne: PickSession | undefined = pick && ((found) => pick(found.map((one) => sessionChoice(one))));
  const resumed = await resumedFile(given, sessions, program.cwd, pickOne);
  const connected = await connectRemote(await withPrograms(given), program, {
    background: jobs !== undefined,
    signal: given.signal,
  });
  let conversation: Conversation | undefined;
  try {
    const flags = await chooseSandbox(connected, program);
    conversation = await prepare(provider, flags, sessions, { program, asker, jobs });
    await conversation.switchTo(resumed);
    return conversation;
  } catch (error) {
    await conversation?.close();
    await connected.remote?.close();
    throw error;
  }
}

interface Surroundings {
  readonly program: Program;
  readonly asker: () => Asker | undefined;
  readonly jobs: BackgroundJobs | undefined;
}

/** Makes all but the agent. */
async function prepare(
  provider: Provider,
  flags: ConversationFlags,
  sessions: SessionFolder,
  { program, asker, jobs }: Surroundings,
): Promise<Conversation> {
  const { terminal, folders, cwd, host } = program;
  const { remote, directory = cwd } = flags;
  if (remote) terminal.aside(`The tools work on ${remote.name}, in ${remote.roots?.join(", ")}.`);
  const problem = makeSessionFolder(directory, folders);
  sessions.removeLost();
  if (problem) terminal.aside(`The conversation could not be saved: ${problem}`);
  const skills = await skillsFor(flags, program, asker());
  const readable = [...(problem === undefined ? [sessions.outputs] : []), ...skills.readable];
  // Before the servers: a wrong rule starts none.
  const permissions = createPermissions(flags, rootsOf(flags, cwd), program, "ask", readable);
  const mount = flags.mounted ?? (await mountFor(flags, program, asker()));
  const hooks = new Hooks(flags, { cwd: directory, host, note: (text) => terminal.aside(text) });
  const parts = { flags, program, sessions, permissions, mount, jobs, skills, hooks, isSaved: !problem };
  return new Conversation(parts, provider, asker);
}

/** Loads skills; none for a remote, whose tools could not read their files, nor if the tool that reads them is left out. */
async function skillsFor(
  { skills, remote, tools, ...flags }: ConversationFlags,
  program: Program,
  asker: Asker | undefined,
): Promise<LoadedSkills> {
  if (skills === false || remote || tools?.includes("read_skill") === false) return noSkills;
  const { cwd } = createPathScope({ root: rootsOf(flags, program.cwd), cwd: flags.directory });
  return await loadSkills(cwd, program, asker);
}

/** An agent with the CLI's tools, whose conversation a journal keeps as it grows. */
export class Conversation {
  /** The conversations of this directory. */
  readonly sessions: SessionFolder;
  /** The remote of `--on`. */
  readonly remote: ToolFlags["remote"];
  readonly permissions: Permissions;
  readonly #parts: AgentParts;
  readonly #asker: () => Asker | undefined;
  readonly #lock: SessionLock;
  #provider: Provider;
  #built: BuiltAgent | undefined;
  #isDenied = false;
  /** Calls that waited in a file of somebody else, maybe. Whoever wrote it may have written answers, too. */
  #unasked: ReadonlySet<string> = new Set();

  constructor(parts: Omit<AgentParts, "guard" | "provider">, provider: Provider, asker: () => Asker | undefined) {
    this.sessions = parts.sessions;
    this.remote = parts.flags.remote;
    this.permissions = parts.permissions;
    this.#asker = asker;
    this.#lock = new SessionLock(parts.sessions);
    this.#provider = provider;
    const current = (): Provider => this.#provider;
    const live: Provider = {
      get name() {
        return current().name;
      },
      get model() {
        return current().model;
      },
      get abilities() {
        return current().abilities;
      },
      send: (request) => current().send(request),
    };
    this.#parts = { ...parts, provider: live, guard: (call) => this.#decide(call) };
  }

  get #present(): BuiltAgent {
    if (!this.#built) throw new Error("The conversation is not open yet.");
    return this.#built;
  }

  get agent(): Agent {
    return this.#present.agent;
  }

  /** Returns whether questions wait that the user can answer. */
  get hasQuestions(): boolean {
    const { pending } = this.agent;
    return pending.length > 0 && !pending.some(({ callId }) => this.#unasked.has(callId));
  }

  /** Returns the journal of this one; undefined where none can be kept. */
  get journal(): string | undefined {
    return this.#lock.journal;
  }

  /** Takes turns back; undefined for a conversation that is kept elsewhere, or not at all, and for a remote. */
  get undo(): Undo | undefined {
    return this.#built?.undo;
  }

  /** Returns the files that the system prompt holds as instructions. */
  get instructions(): Instructions {
    return this.#present.instructions;
  }

  /** Returns whether a call was refused: by a rule, by the user, or because nobody could be asked. */
  get denied(): boolean {
    return this.#isDenied;
  }

  /** Returns the skills that the system prompt names. */
  get skills(): LoadedSkills {
    return this.#parts.skills;
  }

  /** Returns the MCP servers that are used. */
  get mount(): AgentParts["mount"] {
    return this.#parts.mount;
  }

  turn(message: UserContent, signal: AbortSignal, options?: ChatOptions): AsyncGenerator<AgentEvent, void> {
    // First: it may have been taken back in another process.
    const note = this.undo?.takeNote();
    this.undo?.begin(firstLineOf(message));
    const sent = note === undefined ? message : withTextBefore(note, message);
    return this.#events(
      this.agent.streamChat(sent, { ...options, signal, onQuestions: () => this.#ask(signal) }),
      signal,
    );
  }

  /** Asks the user about the calls that wait, and goes on where they were answered. */
  answer(signal: AbortSignal): AsyncGenerator<AgentEvent, void> {
    this.undo?.begin("your answers");
    return this.#events(this.agent.streamApprove({}, { signal, onQuestions: () => this.#ask(signal) }), signal);
  }

  /** Goes on with another model. */
  useModel(provider: Provider): void {
    this.#provider = provider;
  }

  /** Changes what runs unasked, from now on; the next request tells the model of `plan`. */
  setMode(mode: WorkMode): void {
    this.permissions.setMode(mode);
    this.agent.setSystemPrompt(this.#present.promptFor(mode));
  }

  /** Continues the conversation of `file`, or starts a new one. The tools stay on or off as they are. */
  async switchTo(file?: string): Promise<void> {
    const before = this.#built?.agent.toolRegistry;
    this.#built = await buildAgent(this.#parts, this.#lock, file);
    for (const name of before?.getToolNames() ?? []) {
      if (before?.isToolEnabled(name)) this.agent.enableTool(name);
      else this.agent.disableTool(name);
    }
    const isGiven = file !== undefined && !isKeptSession(file, this.sessions);
    const why = isGiven ? `${oneLine(basename(file), 200)} ${fromOthers}` : lacksPrograms(this.agent) && openProgram;
    this.#unasked = new Set(why ? this.agent.pending.map(({ callId }) => callId) : []);
    if (why && this.#unasked.size > 0) this.#parts.program.terminal.aside(why);
  }

  /** Ends the servers that were started, and the connection to the remote of `--on`. */
  async close(): Promise<void> {
    const { terminal, settings } = this.#parts.program;
    try {
      // The present one is still locked.
      const { days, megabytes } = sessionRetention((await settings.catch(() => undefined)) ?? {});
      const { sessions: count } = await this.sessions.prune({ maxAgeDays: days, maxBytes: megabytes * 2 ** 20 });
      const what = count === 1 ? "1 old conversation" : `${count} old conversations`;
      if (count > 0) terminal.aside(`Removed ${what} (${days} days, ${megabytes} MB in all).`);
    } finally {
      this.#lock.release();
      await Promise.all([this.#parts.mount?.close(), this.remote?.close()]);
    }
  }

  async #decide(call: GuardedCall): Promise<GuardDecision> {
    const decided = await this.permissions.policy.guard(call);
    const hooked = isDenial(decided) ? true : await this.#parts.hooks.decide(call);
    const decision = hooked === true ? decided : hooked;
    // A refusal by the tool itself, of a path outside the roots, is not a decision about the call.
    if (isDenial(decision) && call.effectsError === undefined) this.#isDenied = true;
    return decision;
  }

  /** Runs the hooks at the end. */
  async *#events(events: AsyncIterable<AgentEvent>, signal: AbortSignal): AsyncGenerator<AgentEvent, void> {
    const { hooks } = this.#parts;
    let reason = "error";
    try {
      for await (const event of events) {
        if (event.type === "end") reason = event.reason;
        yield event;
      }
    } finally {
      if (!signal.aborted) await hooks.turnEnded(reason, signal);
    }
  }

  async #ask(signal: AbortSignal): Promise<Answers | undefined> {
    const user = this.#asker();
    const { terminal } = this.#parts.program;
    const { toolRegistry: registry, pending } = this.agent;
    const { style } = terminal;
    const note = (line: string): void => terminal.aside(line);
    const answers =
      user && (await answersTo(pending, { asker: user, permissions: this.permissions, registry, style, signal, note }));
    if (!answers && signal.aborted)
      throw new CliError(
        "interrupted",
        `Interrupted. The question stays open: ${this.#parts.jobs ? "/answer" : "toolcrib chat -c"} asks again.`,
      );
    const isNo = (answer: Answer): boolean => answer === false || typeof answer === "string";
    if (!answers || Object.values(answers).some(isNo)) this.#isDenied = true;
    return answers;
  }
}

const fromOthers = "may come from somebody else, so its waiting calls are not asked about: a message rejects them.";
const openProgram = "A program waits for your answer: toolcrib chat -c --programs asks for it. A message rejects it.";

const isDenial = (decision: GuardDecision): boolean =>
  decision !== true && !(typeof decision === "object" && "ask" in decision);
