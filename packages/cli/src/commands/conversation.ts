import { basename } from "node:path";
import type { Agent, AgentEvent, Answer, Answers, ChatOptions, Provider, UserContent } from "@toolcrib/agent";
import type { SessionFolder } from "@toolcrib/agent/sessions";
import type { GuardDecision, GuardedCall } from "@toolcrib/core";
import { oneLine } from "@toolcrib/core/internal";
import { createPathScope, type FileLock } from "@toolcrib/kit/files";
import { sessionRetention } from "../config/ownSettings.ts";
import { type LoadedSkills, loadSkills, noSkills } from "../config/skills.ts";
import { CliError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { isKeptSession, makeSessionFolder, resumedFile, sessionsOf } from "../state/sessionFile.ts";
import type { Asker, PickChoice } from "../terminal/ask.ts";
import { firstLineOf, withTextBefore } from "../terminal/prompt.ts";
import { answersTo } from "../tools/approval.ts";
import { createHooks } from "../tools/hooks.ts";
import { mountFor } from "../tools/mcpTools.ts";
import { createPermissions, type Permissions, type WorkMode } from "../tools/permissions.ts";
import { lacksPrograms, withPrograms } from "../tools/programs.ts";
import { connectRemote } from "../tools/remote.ts";
import { chooseSandbox } from "../tools/sandbox.ts";
import { rootsOf } from "../tools/toolSet.ts";
import { type AgentParts, type BuiltAgent, buildAgent, type ConversationFlags, journalFor } from "./buildAgent.ts";

/** Throws usage errors, and `bad_session` for a file that does not hold a conversation. `pick` lets the user pick a conversation. */
export async function openConversation(
  provider: Provider,
  given: ConversationFlags,
  program: Program,
  { pick, ...user }: Pick<AgentParts, "asker" | "jobs"> & { readonly pick?: PickChoice | undefined },
): Promise<Conversation> {
  const sessions = sessionsOf(given.directory ?? program.cwd, program.folders);
  // First: what cannot be resumed connects nothing.
  const resumed = await resumedFile(given, sessions, program.cwd, pick);
  const connected = await connectRemote(await withPrograms(given), program, {
    background: user.jobs !== undefined,
    signal: given.signal,
  });
  let conversation: Conversation | undefined;
  try {
    const flags = await chooseSandbox(connected, program);
    conversation = new Conversation({ ...(await prepare(flags, sessions, program, user.asker)), ...user }, provider);
    await conversation.switchTo(resumed);
    return conversation;
  } catch (error) {
    await conversation?.close();
    await connected.remote?.close();
    throw error;
  }
}

async function prepare(
  flags: ConversationFlags,
  sessions: SessionFolder,
  program: Program,
  asker: AgentParts["asker"],
): Promise<Omit<AgentParts, "guard" | "provider" | "asker" | "jobs">> {
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
  const hooks = createHooks(flags, { cwd: directory, host, note: (text) => terminal.aside(text) });
  return { flags, program, sessions, permissions, mount, skills, hooks, isSaved: !problem };
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
  readonly parts: AgentParts;
  /** Set by `switchTo`. */
  built!: BuiltAgent;
  #provider: Provider;
  #lock: FileLock | undefined;
  /** The one that is written, and locked so that no other process does; undefined where none can be kept. */
  journal: string | undefined;
  /** Tells whether a call was refused: by a rule, by the user, or because nobody could be asked. */
  denied = false;
  /** Calls that waited in a file of somebody else, maybe. Whoever wrote it may have written answers, too. */
  #unasked: ReadonlySet<string> = new Set();

  constructor(parts: Omit<AgentParts, "guard" | "provider">, provider: Provider) {
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
    this.parts = { ...parts, provider: live, guard: (call) => this.#decide(call) };
  }

  get agent(): Agent {
    return this.built.agent;
  }

  get permissions(): Permissions {
    return this.parts.permissions;
  }

  get hasQuestions(): boolean {
    const { pending } = this.agent;
    return pending.length > 0 && !pending.some(({ callId }) => this.#unasked.has(callId));
  }

  turn(message: UserContent, signal: AbortSignal, options?: ChatOptions): AsyncGenerator<AgentEvent, void> {
    // First: it may have been taken back in another process.
    const { undo } = this.built;
    const note = undo?.takeNote();
    undo?.begin(firstLineOf(message));
    const sent = note === undefined ? message : withTextBefore(note, message);
    return this.#events(
      this.agent.streamChat(sent, { ...options, signal, onQuestions: () => this.#ask(signal) }),
      signal,
    );
  }

  answer(signal: AbortSignal): AsyncGenerator<AgentEvent, void> {
    this.built.undo?.begin("your answers");
    return this.#events(this.agent.streamApprove({}, { signal, onQuestions: () => this.#ask(signal) }), signal);
  }

  useModel(provider: Provider): void {
    this.#provider = provider;
  }

  /** Changes what runs unasked, from now on; the next request tells the model of `plan`. */
  setMode(mode: WorkMode): void {
    this.permissions.setMode(mode);
    this.agent.setSystemPrompt(this.built.promptFor(mode));
  }

  /** Continues the conversation of `file`, or starts a new one. The tools stay on or off as they are. */
  async switchTo(file?: string): Promise<void> {
    const { sessions, program } = this.parts;
    const before = (this.built as BuiltAgent | undefined)?.agent.toolRegistry;
    const journal = await journalFor(this.parts, file);
    const isSame = journal !== undefined && journal === this.journal;
    const lock = isSame ? this.#lock : journal === undefined ? undefined : await sessions.lock(journal);
    try {
      this.built = await buildAgent(this.parts, journal, file);
    } catch (error) {
      // The conversation before, and its journal, stay as they were.
      if (!isSame) lock?.release();
      throw error;
    }
    if (!isSame) this.#lock?.release();
    this.#lock = lock;
    this.journal = lock && journal;
    for (const name of before?.getToolNames() ?? []) {
      if (before?.isToolEnabled(name)) this.agent.enableTool(name);
      else this.agent.disableTool(name);
    }
    const isGiven = file !== undefined && !isKeptSession(file, sessions);
    const why = isGiven ? `${oneLine(basename(file), 200)} ${fromOthers}` : lacksPrograms(this.agent) && openProgram;
    this.#unasked = new Set(why ? this.agent.pending.map(({ callId }) => callId) : []);
    if (why && this.#unasked.size > 0) program.terminal.aside(why);
  }

  async close(): Promise<void> {
    const { sessions, mount, flags, program } = this.parts;
    const { terminal, settings } = program;
    try {
      // The present one is still locked.
      const { days, megabytes } = sessionRetention((await settings.catch(() => undefined)) ?? {});
      const { sessions: count } = await sessions.prune({ maxAgeDays: days, maxBytes: megabytes * 2 ** 20 });
      const what = count === 1 ? "1 old conversation" : `${count} old conversations`;
      if (count > 0) terminal.aside(`Removed ${what} (${days} days, ${megabytes} MB in all).`);
    } finally {
      this.#lock?.release();
      await Promise.all([mount?.close(), flags.remote?.close()]);
    }
  }

  async #decide(call: GuardedCall): Promise<GuardDecision> {
    const decided = await this.permissions.policy.guard(call);
    const hooked = isDenial(decided) ? true : ((await this.parts.hooks?.decide(call)) ?? true);
    const decision = hooked === true ? decided : hooked;
    // A refusal by the tool itself, of a path outside the roots, is not a decision about the call.
    if (isDenial(decision) && call.effectsError === undefined) this.denied = true;
    return decision;
  }

  async *#events(events: AsyncIterable<AgentEvent>, signal: AbortSignal): AsyncGenerator<AgentEvent, void> {
    const { hooks } = this.parts;
    let reason = "error";
    try {
      for await (const event of events) {
        if (event.type === "end") reason = event.reason;
        yield event;
      }
    } finally {
      if (!signal.aborted) await hooks?.turnEnded(reason, signal);
    }
  }

  async #ask(signal: AbortSignal): Promise<Answers | undefined> {
    const { asker: find, permissions, jobs, program } = this.parts;
    const { style, aside: note } = program.terminal;
    const asker = find();
    const { toolRegistry: registry, pending } = this.agent;
    const answers = asker && (await answersTo(pending, { asker, permissions, registry, style, signal, note }));
    if (!answers && signal.aborted)
      throw new CliError(
        "interrupted",
        `Interrupted. The question stays open: ${jobs ? "/answer" : "toolcrib chat -c"} asks again.`,
      );
    const isNo = (answer: Answer): boolean => answer === false || typeof answer === "string";
    if (!answers || Object.values(answers).some(isNo)) this.denied = true;
    return answers;
  }
}

const fromOthers = "may come from somebody else, so its waiting calls are not asked about: a message rejects them.";
const openProgram = "A program waits for your answer: toolcrib chat -c --programs asks for it. A message rejects it.";

const isDenial = (decision: GuardDecision): boolean =>
  decision !== true && !(typeof decision === "object" && "ask" in decision);
