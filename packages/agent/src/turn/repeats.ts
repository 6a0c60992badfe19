import { attempt, canonicalJson } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { callsOf, notRun, toolMessage } from "../conversation/conversation.ts";
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

interface ToolLookup {
  get(name: string): unknown;
}

/** A call that has ended, or those of a reply that have run, together. */
interface Ended {
  /** The calls as texts, whatever the order of their arguments. */
  readonly calls: readonly string[];
  readonly result: string;
  readonly isRefused: boolean;
}

/**
 * Finds calls that go in circles with the same results in a row: the same call, or up to three in turn; and replies with the same calls,
 * or up to three such replies in turn. It reads them off the end of the conversation, so that a resumed session goes on with the count.
 */
export class RepeatGuard {
  readonly #same: number;
  readonly #limit: number;
  readonly #tools: ToolLookup;
  readonly #history: { readonly messages: readonly Message[] };
  /** The reply whose calls run, and what has ended before it since the user's message: the last calls, and the replies without refusals. */
  #reply: Message | undefined;
  #calls: Ended[] = [];
  #replies: Ended[] = [];

  constructor(
    { same = 3, limit = 6 }: RepeatOptions,
    tools: ToolLookup,
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
    const ended = earlier.length > 0 ? [...this.#calls, ...this.#endsOf(earlier, results)] : this.#calls;
    const circle = [...this.#circleIn(this.#replies), ...this.#circleIn(ended)];
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
    const isClosed = this.#circleIn(this.#calls, ended).length + this.#circleIn(this.#replies, reply).length > 0;
    if (!isClosed) return result;
    return toolMessage({ id: result.callId, name: result.name }, { ...result, output: result.output + note });
  }

  /** Returns whether the model has not left the circle for too long. */
  get isStuck(): boolean {
    const { calls, results } = this.#now();
    const last = this.#endsOf(calls, results);
    if (last.at(-1)?.isRefused === false) return false;
    const ended = [...this.#calls, ...last];
    return ended.length - (ended.findLastIndex((one) => !one.isRefused) + 1) >= this.#limit;
  }

  /** Returns the circle in which the last ones are, refusals apart; nothing if they are in none, or `added` closes none. */
  #circleIn(before: readonly Ended[], added?: readonly Ended[]): readonly Ended[] {
    const last = added?.at(-1);
    // Mostly it is another one than the last three, so that no list is made.
    if (added && !(added.length > 1 || [1, 2, 3].some((distance) => isSame(before.at(-distance), last)))) return [];
    const ended = added ? [...before, ...added] : before;
    const end = ended.findLastIndex((one) => !one.isRefused) + 1;
    for (let length = 1; length <= longestCycle; length += 1) {
      const start = end - length * this.#same;
      let at = end - length - 1;
      while (at >= start && isSame(ended[at], ended[at + length])) at -= 1;
      if (at < start) return ended.slice(end - length, end);
    }
    return [];
  }

  /** Returns the calls of the last reply with the results so far. */
  #now(): Reply {
    const { messages } = this.#history;
    const at = messages.findLastIndex((message) => message.role === "assistant");
    const reply = messages[at];
    if (reply !== this.#reply) {
      const before = replyBefore(messages, at);
      const isNext = before >= 0 && messages[before] === this.#reply;
      if (isNext) this.#take(before);
      else this.#readFrom(at);
      this.#reply = reply;
    }
    return replyAt(messages, at);
  }

  /** Reads anew what came before a reply. */
  #readFrom(reply: number): void {
    this.#calls = [];
    this.#replies = [];
    const { messages } = this.#history;
    const places: number[] = [];
    for (let at = replyBefore(messages, reply); at >= 0; at = replyBefore(messages, at)) places.push(at);
    for (const at of places.reverse()) this.#take(at);
  }

  /** Adds a reply whose calls have all ended. */
  #take(at: number): void {
    const { calls, results } = replyAt(this.#history.messages, at);
    const ended = this.#endsOf(calls, results);
    this.#calls.push(...ended);
    this.#replies.push(...together(ended));
    // All refusals at the end count, the rest as far as a circle reaches.
    const most = this.#same * longestCycle;
    const rest = this.#calls.findLastIndex((one) => !one.isRefused) + 1;
    if (rest > 2 * most) this.#calls.splice(0, rest - most);
    if (this.#replies.length > 2 * most) this.#replies.splice(0, this.#replies.length - most);
  }

  /** Describes how calls ended. One without a result still runs beside the next one, and ends any row. */
  #endsOf(calls: readonly ToolCallBlock[], results: ReadonlyMap<string, ToolMessage>): Ended[] {
    const ended: Ended[] = [];
    for (const call of calls) {
      if (this.#waits(call.name)) continue;
      const result = results.get(call.id);
      ended.push(result ? endOf(call, result) : { calls: [call.id], result: "", isRefused: false });
    }
    return ended;
  }

  /** Returns whether a tool waits for something, so that it may answer the same for a while. */
  #waits(name: string): boolean {
    // If its getter throws, the tool does not state it.
    return name === "read_output" || attempt(() => saysToWait(this.#tools.get(name))) === true;
  }
}

function saysToWait(tool: unknown): boolean {
  return isObject(tool) && tool.waits === true;
}

function isSame(a: Ended | undefined, b: Ended | undefined): boolean {
  if (!a || !b || a.isRefused || a.result !== b.result || a.calls.length !== b.calls.length) return false;
  return a.calls.every((call, at) => call === b.calls[at]);
}

/** Each call is looked at several times, and its result may be long. */
const described = new WeakMap<ToolMessage, Ended>();

function endOf(call: ToolCallBlock, result: ToolMessage): Ended {
  let ended = described.get(result);
  if (!ended) {
    ended = new EndedCall(call, result);
    described.set(result, ended);
  }
  return ended;
}

class EndedCall implements Ended {
  readonly result: string;
  readonly isRefused: boolean;
  readonly #call: ToolCallBlock;
  #calls: readonly string[] | undefined;

  constructor(call: ToolCallBlock, { output, content }: ToolMessage) {
    const plain = output.endsWith(note) ? output.slice(0, -note.length) : output;
    this.#call = call;
    this.result = content ? JSON.stringify([plain, content]) : plain;
    this.isRefused = output === notRun(call, "repeated").output;
  }

  /** Written once the results are the same, since it costs the most. */
  get calls(): readonly string[] {
    this.#calls ??= [textOf(this.#call)];
    return this.#calls;
  }
}

/** Returns the calls of a reply that have run, as one, whatever their order; nothing where none has. */
function together(ended: readonly Ended[]): readonly Ended[] {
  const ran = ended.every((one) => !one.isRefused) ? ended : ended.filter((one) => !one.isRefused);
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

/** Returns the call whatever the order of its arguments. */
function textOf({ name, args, malformed }: ToolCallBlock): string {
  return canonicalJson([name, args, malformed ?? null]);
}
