import type { AssistantMessage, Message, ToolMessage, Usage } from "../messages.ts";
import { type NotRunReason, notRun, openCalls } from "./conversation.ts";
import { addUsage, noUsage } from "./usage.ts";

/** Where a history is also written, as it grows; each method is awaited before the turn goes on. */
export interface Recorder {
  message(message: Message, usage?: Usage): Promise<void>;
  toolStart(callIds: readonly string[]): Promise<void>;
  /** The conversation is now these messages. */
  replaced(messages: readonly Message[]): Promise<void>;
  /** The turn is over: files may be closed. */
  turnEnded(): Promise<void>;
}

/** The conversation of one session: append-only while a turn runs, frozen messages, unique call ids, summed usage. */
export class History {
  #messages: Message[] = [];
  #usage: Usage = noUsage;
  /** The ids of all calls so far: each is used once in a session. */
  readonly callIds: Set<string> = new Set();
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

  add(message: Message, usage?: Usage): Promise<void> | undefined {
    this.#messages.push(message);
    return this.recorder?.message(message, usage);
  }

  /** Appends without recording: for a result that was recorded when it arrived. */
  append(message: Message): void {
    this.#messages.push(message);
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

  /** Answers every call that has no result yet as not run. */
  async closeOpenCalls(reason: NotRunReason): Promise<readonly ToolMessage[]> {
    const results = openCalls(this.#messages).map((call) => notRun(call, reason));
    for (const result of results) this.#messages.push(result);
    for (const result of results) await this.recorder?.message(result);
    return results;
  }

  /** Removes the last message if it is the user's: the service refused it and would refuse it again. */
  async withdrawUnanswered(): Promise<void> {
    if (this.#messages.at(-1)?.role === "user") await this.replace(this.#messages.slice(0, -1));
  }

  /** Starts from a saved conversation, which must be valid. */
  restore(messages: readonly Message[], usage: Usage = noUsage): void {
    this.#messages = [...messages];
    this.#usage = usage;
    for (const message of messages) if (message.role === "tool") this.callIds.add(message.callId);
  }

  /** Forgets the conversation; the recorder is told without waiting for it. */
  clear(): void {
    if (this.#messages.length === 0) return;
    const { recorder } = this;
    void this.replace([])
      ?.then(() => recorder?.turnEnded())
      .catch(() => undefined);
  }

  replace(messages: readonly Message[]): Promise<void> | undefined {
    this.#messages = [...messages];
    this.contextTokens = undefined;
    this.retryCompactionAbove = 0;
    return this.recorder?.replaced(messages);
  }
}
