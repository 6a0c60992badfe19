import type { AssistantMessage, Message, ToolMessage, Usage } from "../messages.ts";
import { addUsage, noUsage } from "../turn/usage.ts";
import { admitReply, type NotRunReason, notRun, openCalls } from "./conversation.ts";

/** Where a history is also written, as it grows; each method is awaited before the turn goes on. */
export interface Recorder {
  message(message: Message, usage?: Usage): Promise<void>;
  toolStart(callIds: readonly string[]): Promise<void>;
  /** The conversation is now these messages. */
  replaced(messages: readonly Message[]): Promise<void>;
  /** The turn is over: nothing need be held open. */
  rest(): Promise<void>;
}

/** The conversation of one session: append-only while a turn runs, frozen messages, unique call ids, summed usage. */
export class History {
  #messages: Message[] = [];
  #usage: Usage = noUsage;
  readonly #callIds: Set<string> = new Set();
  /** Tokens of the last request and its reply, as the service counted them. */
  contextTokens: number | undefined;
  /** Tokens below which making room has been tried in vain. */
  fullUntil = 0;
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

  /** Appends without recording: for a result that is on record since it arrived. */
  append(message: Message): void {
    this.#messages.push(message);
  }

  /** Takes a reply in as history may keep it; one that is empty is not kept. `recorded` is to be awaited. */
  addReply(said: AssistantMessage, usage?: Usage): { reply: AssistantMessage; recorded: Promise<void> | undefined } {
    if (usage) {
      this.count(usage);
      this.contextTokens = usage.inputTokens + usage.outputTokens;
    }
    const reply = admitReply(said, this.#callIds);
    return { reply, recorded: reply.content.length > 0 ? this.add(reply, usage) : undefined };
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

  /** Takes back the last message when it is the user's: the service refused it, and would again. */
  async withdrawUnanswered(): Promise<void> {
    if (this.#messages.at(-1)?.role === "user") await this.replace(this.#messages.slice(0, -1));
  }

  /** Begins with a saved conversation, which must be valid. */
  restore(messages: readonly Message[], usage: Usage = noUsage): void {
    this.#messages = [...messages];
    this.#usage = usage;
    for (const message of messages) if (message.role === "tool") this.#callIds.add(message.callId);
  }

  /** Forgets the conversation; the record of it follows behind. */
  clear(): void {
    if (this.#messages.length === 0) return;
    const { recorder } = this;
    void this.replace([])
      ?.then(() => recorder?.rest())
      .catch(() => undefined);
  }

  replace(messages: readonly Message[]): Promise<void> | undefined {
    this.#messages = [...messages];
    this.contextTokens = undefined;
    this.fullUntil = 0;
    return this.recorder?.replaced(messages);
  }
}
