import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, AgentError, type AgentEvent, type Answer, isAgentError, type PendingCall } from "@toolcrib/agent";
import type { AnyToolRegistry } from "@toolcrib/core";
import { offeredFolder, upToOf } from "@toolcrib/core/internal";
import { PageError } from "./errors.ts";
import { isAlways, type PageAction, type PageAnswer, type SessionState, type Turn } from "./protocol.ts";
import type { AgentSession } from "./sessions.ts";

export type StartAction = Exclude<PageAction, { type: "join" }>;

/** A session that pages read and answer. */
export interface LiveSession {
  state(): SessionState | Promise<SessionState>;
  /** Returns the turn that runs, or has just ended: a page that read the session before its end reads it whole. */
  turn(): SessionTurn | undefined | Promise<SessionTurn | undefined>;
  /** Starts a turn for the request of this number. Throws a PageError, also if one runs; nothing has run then. */
  start(action: StartAction, request: number): Promise<Turn>;
  /** Ends the turn that runs, or starts, and those of earlier requests that have not come so far. Resolves once it is over. */
  stop(request?: number): Promise<void>;
  /** Is told who uses the session, 1, and who no longer does, -1. */
  use(change: 1 | -1): void;
}

export interface SessionTurn extends Turn {
  readonly isOver: boolean;
}

/** A turn can be read for so long after its end. */
const readableMs = 5000;

export const turnRuns: PageError = new PageError(409, "A turn is running. Read it, stop it, or wait for its end.");

/** Makes the answers of a page to those of an agent: to always is a yes. */
export function toAnswers(answers: ReadonlyMap<string, PageAnswer>): Record<string, Answer> {
  return Object.fromEntries([...answers].map(([callId, answer]) => [callId, isAlways(answer) ? true : answer]));
}

/** A session whose agent runs here. Its turn ends, and it is left, once nobody has used it for `lingerMs`. */
export class AgentLiveSession implements LiveSession {
  readonly #agent: Agent;
  readonly #session: AgentSession;
  readonly #lingerMs: number;
  readonly #left: () => void;
  isLeft = false;
  #turn: RunningTurn | undefined;
  /** A request has the next turn: until it is known whether that starts, no other one may remember an answer, or start one. */
  #starting: { readonly controller: AbortController; readonly settled: Promise<unknown> } | undefined;
  /** The request that has stopped the session last. */
  #stoppedBy = 0;
  #users = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(agent: Agent, session: AgentSession, { lingerMs, left }: { lingerMs: number; left: () => void }) {
    this.#agent = agent;
    this.#session = session;
    this.#lingerMs = lingerMs;
    this.#left = left;
  }

  state(): SessionState {
    const { sessionContext: messages, toolRegistry: tools } = this.#agent;
    const pending = this.#agent.pending;
    // Recorded before the process ended: nobody would give the answers again.
    const isOpen = pending.some(({ answer }) => answer === undefined);
    return { messages, pending: isOpen ? pending : pending.map(({ answer: _, ...call }) => call), tools };
  }

  turn(): SessionTurn | undefined {
    return this.#turn;
  }

  async start(action: StartAction, request: number): Promise<Turn> {
    if (this.#starting || this.#turn?.isOver === false) throw turnRuns;
    const controller = new AbortController();
    // It waited for the session to open, or for leave to open it, when it was stopped.
    if (request < this.#stoppedBy) controller.abort(stopped());
    const started = this.#start(action, controller);
    this.#starting = { controller, settled: Promise.allSettled([started]) };
    try {
      return await started;
    } catch (error) {
      throw refusal(error);
    } finally {
      this.#starting = undefined;
    }
  }

  async #start(action: StartAction, controller: AbortController): Promise<Turn> {
    const { labels } = this.#session;
    const tools = action.tools?.(this.#agent.toolRegistry);
    const options = { signal: controller.signal, labels, ...(tools && { tools }) };
    const events =
      action.type === "send"
        ? this.#agent.streamChat(action.content, options)
        : this.#agent.streamApprove(await this.#answersOf(action.answers, tools), options);
    // By its first event the turn has checked and recorded what it was given.
    const first = events.next();
    await first.catch((error: unknown) => {
      if (!isAgentError(error) || error.code !== "aborted") throw error;
    });
    const turn = new RunningTurn(this, controller, action.type === "answer", startingWith(first, events));
    this.#turn = turn;
    void turn.over.then(async () => {
      await sleep(readableMs, undefined, { ref: false });
      if (this.#turn === turn) this.#turn = undefined;
    });
    return turn;
  }

  async stop(request = 0): Promise<void> {
    this.#stoppedBy = Math.max(this.#stoppedBy, request);
    this.#starting?.controller.abort(stopped());
    await this.#starting?.settled;
    this.#turn?.stop();
    await this.#turn?.over;
  }

  use(change: 1 | -1): void {
    this.#users += change;
    clearTimeout(this.#timer);
    if (this.#users > 0 || this.isLeft) return;
    this.#timer = setTimeout(async () => {
      await this.stop();
      if (this.#users === 0) this.#leave();
    }, this.#lingerMs).unref();
  }

  /** Ends the turn, and leaves the session to be opened anew. */
  async close(): Promise<void> {
    await this.stop();
    this.#leave();
  }

  #leave(): void {
    clearTimeout(this.#timer);
    if (!this.isLeft) this.#left();
    this.isLeft = true;
  }

  async #answersOf(
    answers: ReadonlyMap<string, PageAnswer>,
    tools: AnyToolRegistry = this.#agent.toolRegistry,
  ): Promise<Record<string, Answer>> {
    const { pending } = this.#agent;
    const plain = toAnswers(answers);
    for (const call of pending) {
      // The agent refuses them all then, in its own words, and nothing may be remembered of them.
      if (await isUnfit(plain[call.callId], call, tools)) return plain;
    }
    for (const [id, answer] of answers)
      if (isAlways(answer)) await this.#remember(pending.find(({ callId }) => callId === id));
    return plain;
  }

  async #remember(call: PendingCall | undefined): Promise<void> {
    const { policy } = this.#session;
    const tool = call && this.#agent.toolRegistry.get(call.name);
    if (!policy || !tool) throw new PageError(400, "This session cannot remember an answer; send true instead.");
    const { name, args, question } = call;
    await policy.remember({ name, args, tool }, question).catch((error: unknown) => {
      console.error(error);
      throw new PageError(400, "The answer cannot be remembered: the server's log says why. Send true instead.");
    });
  }
}

/** Returns whether the agent would refuse an answer, by its form or its arguments. */
async function isUnfit(
  answer: Answer | undefined,
  { callId, name, question, within }: PendingCall,
  tools: AnyToolRegistry,
): Promise<boolean> {
  const args = typeof answer === "object" && "args" in answer ? answer.args : undefined;
  if (question.needs !== undefined && (answer === true || args !== undefined)) return true;
  if (upToOf(answer) !== undefined && (within === undefined || offeredFolder(question) === undefined)) return true;
  const checked = args === undefined ? undefined : await tools.check(name, args, { callId, within });
  return checked?.ok === false && checked.error.code === "invalid_arguments";
}

function stopped(): AgentError {
  return new AgentError({ code: "aborted", message: "The turn was stopped." });
}

/** Words what kept a turn from starting. */
function refusal(error: unknown): unknown {
  if (!isAgentError(error)) return error;
  if (error.code === "busy") return turnRuns;
  const isInput = error.code === "invalid_option" || error.code === "invalid_request";
  return isInput ? new PageError(400, error.message) : error;
}

/** Gives events of which the first has been asked for. */
export async function* startingWith(
  first: Promise<IteratorResult<AgentEvent, void>>,
  rest: AsyncIterator<AgentEvent>,
): AsyncGenerator<AgentEvent, void> {
  try {
    for (let next = await first; !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** A turn that goes on whether or not somebody reads it. */
class RunningTurn implements SessionTurn {
  readonly before: SessionState;
  readonly continues: boolean;
  /** Resolves when the turn is over. */
  readonly over: Promise<void>;
  readonly #session: AgentLiveSession;
  readonly #controller: AbortController;
  readonly #log: AgentEvent[] = [];
  #error: { readonly error: unknown } | undefined;
  #after: SessionState | undefined;
  #more = Promise.withResolvers<void>();

  constructor(
    session: AgentLiveSession,
    controller: AbortController,
    continues: boolean,
    events: AsyncIterable<AgentEvent>,
  ) {
    this.#session = session;
    this.before = session.state();
    this.continues = continues;
    this.#controller = controller;
    this.over = this.#run(events);
  }

  stop(): void {
    this.#controller.abort(stopped());
  }

  after(): SessionState {
    return this.#after ?? this.#session.state();
  }

  get isOver(): boolean {
    return this.#after !== undefined;
  }

  async *events(): AsyncGenerator<AgentEvent, void> {
    for (let index = 0; ; index += 1) {
      while (index >= this.#log.length && !this.isOver) await this.#more.promise;
      const event = this.#log[index];
      if (event) yield event;
      else if (this.#error) throw this.#error.error;
      else return;
    }
  }

  async #run(events: AsyncIterable<AgentEvent>): Promise<void> {
    try {
      for await (const event of events) {
        this.#log.push(event);
        this.#wake();
      }
    } catch (error) {
      this.#error = { error };
    }
    this.#after = this.#session.state();
    this.#wake();
  }

  #wake(): void {
    this.#more.resolve();
    this.#more = Promise.withResolvers();
  }
}
