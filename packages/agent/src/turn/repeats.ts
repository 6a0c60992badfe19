import { attempt, canonicalJson } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { callsOf, notRun, toolMessage } from "../conversation/conversation.ts";
import type { AssistantMessage, Message, ToolCallBlock, ToolMessage } from "../messages.ts";

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

/** A call of the turn that has ended, or all calls of a reply together. */
interface Ended {
  readonly call: string;
  readonly result: string;
  readonly isRefused: boolean;
}

/** Each call is looked at again and again until nine others have ended, and its result may be long. */
const described = new WeakMap<ToolMessage, Ended>();

/** A reply whose calls have ended, without those that were refused. The order of its calls makes no difference. */
interface Round extends Ended {
  readonly calls: readonly string[];
}

/**
 * Finds calls that go in circles with the same results in a row: the same call, or up to three in turn; and replies with the same calls,
 * or up to three such replies in turn. It reads them off the conversation since the user's last message, so that a resumed session goes
 * on with the count.
 */
export class RepeatGuard {
  readonly #same: number;
  readonly #limit: number;
  readonly #tools: ToolLookup;
  readonly #history: { readonly messages: readonly Message[] };
  /** The calls of the circle of replies before the reply whose calls run. */
  #circle: { readonly before: AssistantMessage | undefined; readonly calls: ReadonlySet<string> } | undefined;

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
    const text = textOf(call);
    const isRepeated =
      this.#circleOfReplies().has(text) || this.#cycleAtEnd(this.#endedCalls(call.id)).some((one) => one.call === text);
    return isRepeated ? notRun(call, "repeated") : undefined;
  }

  /** Returns a new result, which says so if it closes the last round that is allowed. */
  noted(result: ToolMessage): ToolMessage {
    const ended = this.#endedCalls(result.callId, result);
    if (this.#waits(result.name) || ended.at(-1)?.isRefused) return result;
    if (this.#cycleAtEnd(ended).length === 0 && this.#cycleAtEnd(this.#rounds(result)).length === 0) return result;
    return toolMessage({ id: result.callId, name: result.name }, { ...result, output: result.output + note });
  }

  /** Returns whether the model has not left the circle for too long. */
  get isStuck(): boolean {
    const ended = this.#endedCalls();
    return ended.length - (ended.findLastIndex((one) => !one.isRefused) + 1) >= this.#limit;
  }

  /** Returns the calls of the circle in which the last ones are, refusals apart; none if they are in none. */
  #cycleAtEnd<One extends Ended>(ended: readonly One[]): readonly One[] {
    const ran = ended.slice(0, ended.findLastIndex((one) => !one.isRefused) + 1);
    for (let length = 1; length <= longestCycle; length += 1) {
      const cycle = ran.slice(-length);
      const rounds = ran.slice(-length * this.#same);
      const isSame = rounds.every((one, at) => {
        const other = cycle[at % length];
        return !one.isRefused && one.call === other?.call && one.result === other.result;
      });
      if (rounds.length === length * this.#same && isSame) return cycle;
    }
    return [];
  }

  #circleOfReplies(): ReadonlySet<string> {
    const before = this.#history.messages.findLast((message) => message.role === "assistant");
    if (!this.#circle || this.#circle.before !== before) {
      const calls = new Set(this.#cycleAtEnd(this.#rounds()).flatMap((round) => round.calls));
      this.#circle = { before, calls };
    }
    return this.#circle.calls;
  }

  /** Returns the replies since the user's message, oldest first: without the last one, or with it, if `last` is the result of its last call to end. */
  #rounds(last?: ToolMessage): readonly Round[] {
    const rounds: Round[] = [];
    const results = new Map(last && [[last.callId, last]]);
    let isLast = true;
    for (const message of fromEnd(this.#history.messages)) {
      if (message.role === "user" || rounds.length >= this.#same * longestCycle) break;
      if (message.role === "tool") {
        results.set(message.callId, message);
        continue;
      }
      const calls = callsOf(message);
      if (isLast && last && !calls.every((call) => results.has(call.id))) break;
      const ran = calls.flatMap((call) => this.#endOf(call, results.get(call.id)).filter((one) => !one.isRefused));
      if (ran.length > 0 && !(isLast && !last)) rounds.push(roundOf(ran));
      isLast = false;
    }
    return rounds.reverse();
  }

  /**
   * Returns the last calls since the user's message that have ended, oldest first: as many as a circle needs, and all refusals at
   * the end. With `callId` only those before that call, and, with its result, the call itself.
   */
  #endedCalls(callId?: string, own?: ToolMessage): readonly Ended[] {
    const ended: Ended[] = [];
    const results = new Map<string, ToolMessage>();
    let isAfter = callId !== undefined;
    for (const message of fromEnd(this.#history.messages)) {
      if (message.role === "user" || ended.filter((one) => !one.isRefused).length >= this.#same * longestCycle) break;
      if (message.role === "tool") results.set(message.callId, message);
      else
        for (const call of callsOf(message).toReversed()) {
          const isOwn = call.id === callId;
          const result = isOwn ? own : results.get(call.id);
          // Of two calls that start together neither knows how the other will end.
          const isBeside = callId !== undefined && !own && !result;
          if ((!isAfter && !isBeside) || (isOwn && own)) ended.push(...this.#endOf(call, result));
          if (isOwn) isAfter = false;
        }
    }
    return ended.reverse();
  }

  /** Describes how a call ended. Without a result it still runs beside the next one, and ends any row. */
  #endOf(call: ToolCallBlock, result: ToolMessage | undefined): readonly Ended[] {
    if (this.#waits(call.name)) return [];
    if (!result) return [{ call: call.id, result: "", isRefused: false }];
    let ended = described.get(result);
    if (!ended) {
      const { output, content } = result;
      const isRefused = output === notRun(call, "repeated").output;
      const plain = output.endsWith(note) ? output.slice(0, -note.length) : output;
      ended = { call: textOf(call), result: JSON.stringify([plain, content]), isRefused };
      described.set(result, ended);
    }
    return [ended];
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

function roundOf(ran: readonly Ended[]): Round {
  const calls = ran.map(({ call }) => call).sort();
  const results = ran.map(({ call, result }) => `${call}\n${result}`).sort();
  return { calls, call: calls.join("\n"), result: results.join("\n"), isRefused: false };
}

/** The list is not copied: it may be long, and the last few are enough. */
function* fromEnd<One>(list: readonly One[]): Generator<One> {
  for (let at = list.length - 1; at >= 0; at -= 1) yield list[at] as One;
}

/** Returns the call whatever the order of its arguments. */
function textOf({ name, args, malformed }: ToolCallBlock): string {
  return canonicalJson([name, args, malformed ?? null]);
}
