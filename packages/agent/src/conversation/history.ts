import type { AssistantMessage, Message, PendingCall, ToolCallBlock, ToolMessage, Usage } from "../messages.ts";
import { type NotRunReason, notRun, openCalls } from "./conversation.ts";
import { foundBy } from "./foundTools.ts";
import { addUsage, noUsage } from "./usage.ts";
import {
  type Answer,
  lastCalls,
  pendingCalls,
  putResult,
  type WaitingCall,
  waitingResult,
  withoutResults,
} from "./waiting.ts";

/** Where a history is also written, as it grows; each method is awaited before the turn goes on. */
export interface Recorder {
  /** `usage`: tokens of the reply; `data`: of the outcome of a call. */
  message(message: Message, about?: { readonly usage?: Usage | undefined; readonly data?: unknown }): Promise<void>;
  toolStart(callIds: readonly string[]): Promise<void>;
  /** These calls wait; each comes with the result that stands for it meanwhile. */
  waiting(calls: readonly HeldCall[]): Promise<void>;
  /** Answers to questions about calls that wait, maybe none: those answered earlier start now. */
  answers(answers: Answers): Promise<void>;
  /** The conversation is now these messages; the tools found so far stay found. `isRefused`: without the last one, which the service refused. */
  replaced(messages: readonly Message[], foundTools: readonly string[], isRefused?: boolean): Promise<void>;
  /** The turn is over: files may be closed. */
  turnEnded(): Promise<void>;
}

export interface HeldCall {
  readonly message: ToolMessage;
  readonly pending: WaitingCall;
}

/** By the id of the call. */
export type Answers = Readonly<Record<string, Answer>>;

/** What a saved session holds of a history. */
interface Restored {
  readonly messages: readonly Message[];
  readonly usage?: Usage;
  readonly pending?: readonly WaitingCall[];
  readonly foundTools?: readonly string[];
}

/** The conversation of one session: append-only while a turn runs, frozen messages, unique call ids, summed usage. */
export class History {
  #messages: Message[] = [];
  #usage: Usage = noUsage;
  /** Calls of the last reply that have a placeholder result, by id; some have a question. */
  readonly #waiting: Map<string, WaitingCall> = new Map();
  /** The ids of all calls so far: each is used once in a session. */
  readonly callIds: Set<string> = new Set();
  /** Deferred tools that were found, in the order in which they were. */
  readonly foundTools: Set<string> = new Set();
  /** Tokens of the last request and its reply, as the service counted them. */
  contextTokens: number | undefined;
  /** Compaction achieved too little: it is tried again above this many tokens. */
  retryCompactionAbove = 0;
  recorder: Recorder | undefined;

  /** The live array: it grows, and is replaced by `replace`. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  get usage(): Usage {
    return this.#usage;
  }

  /** The calls that wait for an answer, or for those before them. */
  get waiting(): ReadonlyMap<string, WaitingCall> {
    return this.#waiting;
  }

  /** What the user is asked. */
  get pending(): readonly PendingCall[] {
    return pendingCalls(this.#messages, this.#waiting);
  }

  add(message: Message, usage?: Usage): Promise<void> | undefined {
    this.#messages.push(message);
    return this.recorder?.message(message, { usage });
  }

  /** Adds the result of a call of the last reply, without recording: it was recorded when it arrived. */
  addResult(result: ToolMessage, data?: unknown): void {
    for (const name of foundBy(result.name, data)) this.foundTools.add(name);
    this.#waiting.delete(result.callId);
    putResult(this.#messages, result);
  }

  /**
   * Records that calls of the last reply, that of this step, wait: those with a question and those after them. A placeholder stands
   * for the result of each.
   */
  async hold(
    step: number,
    asked: readonly Omit<WaitingCall, "step">[],
    later: readonly ToolCallBlock[],
  ): Promise<void> {
    const waiting = [...asked, ...later.map((call) => ({ callId: call.id }))];
    const byId = new Map(waiting.map((call) => [call.callId, { ...call, step }]));
    const held = lastCalls(this.#messages).flatMap((call) => {
      const pending = byId.get(call.id);
      return pending ? [{ message: waitingResult(call), pending }] : [];
    });
    await this.recorder?.waiting(held);
    for (const { message, pending } of held) {
      this.addResult(message);
      this.#waiting.set(pending.callId, pending);
    }
  }

  /** Records answers to questions about calls that wait. */
  async answer(answers: Answers): Promise<void> {
    const given = Object.entries(answers);
    await this.recorder?.answers(answers);
    for (const [id, answer] of given) {
      const call = this.#waiting.get(id);
      if (call) this.#waiting.set(id, { ...call, answer });
    }
  }

  /** Records that these calls start: they no longer wait. */
  start(calls: readonly ToolCallBlock[]): Promise<void> | undefined {
    if (calls.length === 0 || (!this.recorder && this.#waiting.size === 0)) return undefined;
    const callIds = calls.map((call) => call.id);
    if (this.recorder) return this.recorder.toolStart(callIds).then(() => this.#release(callIds));
    this.#release(callIds);
    return undefined;
  }

  /** Takes the placeholders away: these calls no longer wait, and are open. */
  #release(callIds: readonly string[]): void {
    if (this.#waiting.size === 0) return;
    const released = new Set(callIds.filter((id) => this.#waiting.delete(id)));
    if (released.size > 0) this.#messages = withoutResults(this.#messages, released);
  }

  /** Adds a valid reply and its usage; an empty reply is not kept. */
  addReply(reply: AssistantMessage, usage?: Usage): Promise<void> | undefined {
    if (usage) {
      this.count(usage);
      this.contextTokens = usage.inputTokens + usage.outputTokens;
    }
    return reply.content.length > 0 ? this.add(reply, usage) : undefined;
  }

  /** Adds to what the session has used. */
  count(usage: Usage): void {
    this.#usage = addUsage(this.#usage, usage);
  }

  /** Answers every call that has no result yet as not run. Calls that wait go on waiting as long as there is a question. */
  async closeOpenCalls(reason: NotRunReason): Promise<readonly ToolMessage[]> {
    if (this.pending.length === 0) this.#release([...this.#waiting.keys()]);
    return this.close(openCalls(this.#messages).map((call) => notRun(call, reason)));
  }

  /** Adds and records results of calls that were not run. */
  async close(results: readonly ToolMessage[]): Promise<readonly ToolMessage[]> {
    for (const result of results) this.addResult(result);
    for (const result of results) await this.recorder?.message(result);
    return results;
  }

  /** Removes the last message if it is the user's: the service refused it and would refuse it again. */
  async withdrawUnanswered(): Promise<void> {
    if (this.#messages.at(-1)?.role === "user") await this.replace(this.#messages.slice(0, -1), true);
  }

  /** Takes the last messages back. */
  retract(count: number): Promise<void> | undefined {
    if (count === 0) return undefined;
    this.#messages = this.#messages.slice(0, -count);
    return this.recorder?.replaced(this.#messages, [...this.foundTools]);
  }

  /** Starts from a saved conversation, which must be valid. */
  restore({ messages, usage = noUsage, pending = [], foundTools = [] }: Restored): void {
    this.#messages = [...messages];
    this.#usage = usage;
    for (const name of foundTools) this.foundTools.add(name);
    for (const message of messages) if (message.role === "tool") this.callIds.add(message.callId);
    for (const call of pending) this.#waiting.set(call.callId, call);
  }

  /** Forgets the conversation; the recorder is told without waiting for it. */
  clear(): void {
    if (this.#messages.length === 0) return;
    const { recorder } = this;
    this.foundTools.clear();
    void this.replace([])
      ?.then(() => recorder?.turnEnded())
      .catch(() => undefined);
  }

  replace(messages: readonly Message[], isRefused = false): Promise<void> | undefined {
    this.#messages = [...messages];
    this.#waiting.clear();
    this.contextTokens = undefined;
    this.retryCompactionAbove = 0;
    return this.recorder?.replaced(messages, [...this.foundTools], isRefused);
  }
}
