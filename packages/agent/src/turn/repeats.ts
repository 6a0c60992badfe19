import { attempt, canonicalJson } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { callsOf, notRun, toolMessage } from "../conversation/conversation.ts";
import { memoize } from "../memoize.ts";
import type { Message, ToolCallBlock, ToolMessage } from "../messages.ts";

/** The limits at which a model that goes in circles is stopped. */
export interface RepeatOptions {
  /** The number of times that the same calls may give the same results in a row; after that they are refused. Default 3. */
  readonly same?: number | undefined;
  /** After so many refusals in a row the turn ends with the reason `stuck`. Default 6. */
  readonly limit?: number | undefined;
}

/** Calls, or replies with their calls, in a circle. */
const longestCycle = 3;

const note =
  "\n\n[repeated: the same as before, and again with the same result; it will not be run once more. Try something else, or say what is missing.]";

/** A call that has ended, or those of a reply that have run, together. */
interface Ended {
  /** The calls as texts, whatever the order of their arguments. */
  readonly calls: readonly string[];
  readonly result: string;
  readonly isRefused: boolean;
}

/** The calls that have ended since the user's message, and the replies whose calls have, without refusals. */
interface Rows {
  readonly calls: readonly Ended[];
  readonly replies: readonly Ended[];
}

/**
 * Finds calls that go in circles with the same results in a row: the same call, or up to three in turn; and replies with the same calls,
 * or up to three such replies in turn. It reads them off the end of the conversation, so that a resumed session goes on with the count.
 */
export class RepeatGuard {
  readonly #same: number;
  readonly #limit: number;
  readonly #tools: { get(name: string): unknown };
  readonly #history: { readonly messages: readonly Message[] };
  /** The reply whose calls run, and what has ended before it. */
  #reply: Message | undefined;
  #before: Rows = { calls: [], replies: [] };

  constructor(
    { same = 3, limit = 6 }: RepeatOptions,
    tools: { get(name: string): unknown },
    history: { readonly messages: readonly Message[] },
  ) {
    this.#same = same;
    this.#limit = limit;
    this.#tools = tools;
    this.#history = history;
  }

  /** Returns the result of a call that would only go round once more; undefined for one that may run. */
  refuse(call: ToolCallBlock): ToolMessage | undefined {
    if (this.#waits(call.name)) return undefined;
    const { calls, results } = this.#now();
    // Of two calls that start together neither knows how the other will end.
    const earlier = calls.slice(0, calls.indexOf(call)).filter(({ id }) => results.has(id));
    const ended = [...this.#before.calls, ...this.#endsOf(earlier, results)];
    const circle = [...this.#circleIn(this.#before.replies), ...this.#circleIn(ended)];
    if (circle.length === 0) return undefined;
    const text = textOf(call);
    return circle.some((one) => one.calls.includes(text)) ? notRun(call, "repeated") : undefined;
  }

  /** Returns a new result, which says so if it closes the last round that is allowed. */
  noted(result: ToolMessage): ToolMessage {
    const { calls, results } = this.#now();
    results.set(result.callId, result);
    const upTo = calls.slice(0, calls.findIndex(({ id }) => id === result.callId) + 1);
    const ended = this.#endsOf(upTo, results);
    if (this.#waits(result.name) || ended.at(-1)?.isRefused) return result;
    const isWhole = calls.every(({ id }) => results.has(id));
    const reply = isWhole ? together(this.#endsOf(calls, results)) : [];
    const circle = [
      ...this.#circleIn([...this.#before.calls, ...ended]),
      ...(reply.length > 0 ? this.#circleIn([...this.#before.replies, ...reply]) : []),
    ];
    if (circle.length === 0) return result;
    return toolMessage({ id: result.callId, name: result.name }, { ...result, output: result.output + note });
  }

  /** Returns whether the model has not left the circle for too long. */
  get isStuck(): boolean {
    const { calls, results } = this.#now();
    const last = this.#endsOf(calls, results);
    if (last.at(-1)?.isRefused === false) return false;
    const ended = [...this.#before.calls, ...last];
    return ended.length - (ended.findLastIndex((one) => !one.isRefused) + 1) >= this.#limit;
  }

  /** Returns the circle in which the last ones are, refusals apart; nothing if they are in none. */
  #circleIn(ended: readonly Ended[]): readonly Ended[] {
    const end = ended.findLastIndex((one) => !one.isRefused) + 1;
    for (let length = 1; length <= longestCycle; length += 1) {
      const start = end - length * this.#same;
      let at = end - length - 1;
      while (at >= start && isSame(ended[at], ended[at + length])) at -= 1;
      if (at < start) return ended.slice(end - length, end);
    }
    return [];
  }

  #now(): Reply {
    const { messages } = this.#history;
    const at = messages.findLastIndex((message) => message.role === "assistant");
    if (messages[at] !== this.#reply) this.#before = this.#rowsBefore(at);
    this.#reply = messages[at];
    return replyAt(messages, at);
  }

  /** Reads what has ended before a reply: all refusals at the end, and the rest as far as a circle reaches. */
  #rowsBefore(reply: number): Rows {
    const { messages } = this.#history;
    const rows: { calls: Ended[]; replies: Ended[] } = { calls: [], replies: [] };
    let at = replyBefore(messages, reply);
    for (; at >= 0 && rows.replies.length < this.#same * longestCycle; at = replyBefore(messages, at)) {
      const { calls, results } = replyAt(messages, at);
      const ended = this.#endsOf(calls, results);
      rows.calls.unshift(...ended);
      rows.replies.unshift(...together(ended));
    }
    return rows;
  }

  /** Describes how calls ended. One without a result still runs beside the next one, and ends any row. */
  #endsOf(calls: readonly ToolCallBlock[], results: ReadonlyMap<string, ToolMessage>): Ended[] {
    return calls
      .filter(({ name }) => !this.#waits(name))
      .map((call) => {
        const result = results.get(call.id);
        return result ? endOf(result, call) : { calls: [call.id], result: "", isRefused: false };
      });
  }

  /** Returns whether a tool waits for something, so that it may answer the same for a while. */
  #waits(name: string): boolean {
    const saysToWait = (tool: unknown): boolean => isObject(tool) && tool.waits === true;
    // If its getter throws, the tool does not state it.
    return name === "read_output" || attempt(() => saysToWait(this.#tools.get(name))) === true;
  }
}

function isSame(a: Ended | undefined, b: Ended | undefined): boolean {
  if (!a || !b || a.isRefused || a.result !== b.result || a.calls.length !== b.calls.length) return false;
  return a.calls.every((call, at) => call === b.calls[at]);
}

/** Each call is looked at several times, and its result may be long. */
const endOf = memoize(({ output, content }: ToolMessage, call: ToolCallBlock): Ended => {
  const plain = output.endsWith(note) ? output.slice(0, -note.length) : output;
  return {
    // Written once the results are the same, since it costs the most.
    get calls() {
      return [textOf(call)];
    },
    result: content ? JSON.stringify([plain, content]) : plain,
    isRefused: output === notRun(call, "repeated").output,
  };
});

/** Returns the calls of a reply that have run, as one, whatever their order; nothing where none has. */
function together(ended: readonly Ended[]): readonly Ended[] {
  const ran = ended.filter((one) => !one.isRefused);
  if (ran.length < 2) return ran;
  const calls = ran.flatMap((one) => one.calls).sort();
  const results = ran.map((one) => `${one.calls}\n${one.result}`).sort();
  return [{ calls, result: results.join("\n"), isRefused: false }];
}

/** Returns the place of the reply before this one; -1 where a message of the user stands between, or none. */
function replyBefore(messages: readonly Message[], reply: number): number {
  let at = reply - 1;
  while (messages[at]?.role === "tool") at -= 1;
  return messages[at]?.role === "assistant" ? at : -1;
}

/** The calls of a reply, and the results that follow it, by the id of their call. */
interface Reply {
  readonly calls: readonly ToolCallBlock[];
  readonly results: Map<string, ToolMessage>;
}

function replyAt(messages: readonly Message[], at: number): Reply {
  const reply = messages[at];
  const results = new Map<string, ToolMessage>();
  for (let next = at + 1, result = messages[next]; result?.role === "tool"; next += 1, result = messages[next])
    results.set(result.callId, result);
  return { calls: reply?.role === "assistant" ? callsOf(reply) : [], results };
}

/** The call whatever the order of its arguments. */
const textOf = memoize(({ name, args, malformed }: ToolCallBlock) => canonicalJson([name, args, malformed ?? null]));
