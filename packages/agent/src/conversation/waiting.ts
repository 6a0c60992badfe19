import type { ApprovalAnswer, ApprovalQuestion, WithinQuestion } from "@toolcrib/core";
import { oneLine, upToOf } from "@toolcrib/core/internal";
import { clip, isObject } from "@toolcrib/core/text";
import { memoize } from "../memoize.ts";
import type { Message, PendingCall, ToolCallBlock, ToolMessage } from "../messages.ts";
import { callsOf, notRun, toolMessage } from "./conversation.ts";
import { type Fits, isText, listOf, maybe, objectWith } from "./shapes.ts";

/**
 * `true` allows, `false` denies, a string denies with that reason; `args` run in place of the model's; `output` is the result, and nothing
 * runs; `upTo` allows so many calls of a program.
 */
export type Answer = ApprovalAnswer;

/** A call that waits for an answer, or for the calls before it, as sessions and journals keep it. */
export interface WaitingCall {
  readonly callId: string;
  /** Replies of the model in the turn so far. */
  readonly step: number;
  /** Absent where the call only waits for those before it. */
  readonly question?: ApprovalQuestion;
  /** Fingerprints of the tool and of the arguments that were asked about: a yes holds for these alone. */
  readonly tool?: string;
  readonly arguments?: string;
  /** The arguments that would run, where they are not those of the model: repaired, or changed by a middleware. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** The user's own arguments, where an answer gave some: these run in place of the model's. */
  readonly instead?: Readonly<Record<string, unknown>>;
  /** Fingerprints of earlier questions about this tool and these arguments that were answered with yes. */
  readonly approved?: readonly string[];
  /** The guard, by position, whose question the user's own arguments answer. */
  readonly answeredGuard?: number;
  /** Recorded, but the call has not started yet. */
  readonly answer?: Answer;
  /** Calls within this one that wait; it goes on once each has an answer, which holds in place of one to its own question. */
  readonly within?: readonly WithinCall[];
  /** The record of a call that has others within it, which its tool repeats. */
  readonly log?: readonly object[];
}

/** A call within another that waits. */
export type WithinCall = WithinQuestion & { readonly answer?: Answer };

export function waitingResult(call: ToolCallBlock, log?: WaitingCall["log"]): ToolMessage {
  if (!log) return notRun(call, "waiting for approval");
  return toolMessage(call, { output: `Waiting for approval; ${callsMade(log)} calls made`, isError: true });
}

/** Returns a call whose process has ended as one that waits, and is answered: it goes on by its record. */
export function readyToGoOn(call: WaitingCall): WaitingCall {
  const text = `Its process ended while it ran; ${callsMade(call.log ?? [])} calls made. Go on?`;
  return { question: { text }, answer: true, ...call };
}

/** Counts the calls that have ended within a call, by its record. */
export function callsMade(log: readonly object[]): number {
  return log.filter((line) => isObject(line) && line.type === "end" && Number(line.number) > 0).length;
}

/** Characters of the list of calls within a call, and of the arguments of each. */
const longestList = 4000;
const longestArguments = 200;

/** Lists the calls within a call that have begun, by its record, as far as there is room; not those that wait for an answer. */
export function callsList(log: readonly object[]): string {
  const calls = new Map<number, string>();
  const ends = new Map<number, string>();
  for (const line of log) {
    if (!isObject(line) || !(Number(line.number) > 0)) continue;
    const number = Number(line.number);
    if (line.type === "call") {
      const args = clip(oneLine(String(line.args)), longestArguments);
      calls.set(number, `${number}. ${oneLine(String(line.name))} ${args}`);
    }
    if (line.type === "call" || line.type === "start") ends.set(number, "may have run");
    if (line.type === "asked") ends.delete(number);
    if (line.type === "end") ends.set(number, line.ok === true ? "ok" : "failed");
  }
  const shown = Array.from(ends, ([number, end]) => `${calls.get(number)}: ${end}`);
  let length = 0;
  const fitting = shown.filter((line) => {
    length += line.length + 1;
    return length <= longestList;
  });
  const more = shown.length - fitting.length;
  return [...fitting, ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}

/** Returns whether a call waits, or one within a call that does. */
export function isWaiting(callId: string, waiting: ReadonlyMap<string, WaitingCall>): boolean {
  return (
    waiting.has(callId) || [...waiting.values()].some(({ within }) => within?.some((one) => one.callId === callId))
  );
}

/** Adds answers to the calls within a waiting one; the same where none is for them. */
export function withAnswers(call: WaitingCall, answers: Readonly<Record<string, Answer>>): WaitingCall {
  const isFor = ({ callId }: WithinCall): boolean => Object.hasOwn(answers, callId);
  if (!call.within?.some(isFor)) return call;
  const within = call.within.map((one) => (isFor(one) ? { ...one, answer: answers[one.callId] as Answer } : one));
  return { ...call, within };
}

/** Returns the calls of the last reply; none once a user's message follows it. */
export function lastCalls(messages: readonly Message[]): readonly ToolCallBlock[] {
  const last = messages.findLast((message) => message.role !== "tool");
  return last?.role === "assistant" ? callsOf(last) : [];
}

/** Puts a result of the last reply into its place, which is the order of the calls; one that is there already is replaced. */
export function putResult(messages: Message[], result: ToolMessage): void {
  // The first result, and mostly the only one.
  if (messages.at(-1)?.role !== "tool") {
    messages.push(result);
    return;
  }
  const places = placesOf(lastCalls(messages));
  const placeOf = (message: Message | undefined): number =>
    message?.role === "tool" ? (places.get(message.callId) ?? -1) : Number.NEGATIVE_INFINITY;
  const place = placeOf(result);
  // From the end: results come mostly in the order of the calls.
  let index = messages.length;
  while (placeOf(messages[index - 1]) >= place) index -= 1;
  const there = messages[index];
  const isThere = there?.role === "tool" && there.callId === result.callId;
  messages.splice(index, isThere ? 1 : 0, result);
}

const placesOf = memoize(
  (calls: readonly ToolCallBlock[]): ReadonlyMap<string, number> => new Map(calls.map(({ id }, place) => [id, place])),
);

/** Takes the placeholder results of these calls out: the calls are open again. */
export function withoutResults<M extends Message>(messages: readonly M[], callIds: ReadonlySet<string>): M[] {
  return messages.filter((message) => message.role !== "tool" || !callIds.has(message.callId));
}

/** Lists the questions for the user, in the order of the calls. */
export function pendingCalls(
  messages: readonly Message[],
  waiting: ReadonlyMap<string, WaitingCall>,
): readonly PendingCall[] {
  if (waiting.size === 0) return [];
  return lastCalls(messages).flatMap(({ id, name, args }) => {
    const { question, answer, args: changed = args, within } = waiting.get(id) ?? {};
    if (within) return within.map((call) => ({ ...call, within: id }));
    return question ? [{ callId: id, name, args: changed, question, ...(answer !== undefined && { answer }) }] : [];
  });
}

/** Returns those of the calls that are of the last reply; none unless there is a question among them. */
export function stillWaiting(messages: readonly Message[], waiting: Iterable<WaitingCall>): readonly WaitingCall[] {
  const ids = new Set(lastCalls(messages).map((call) => call.id));
  const still = [...waiting].filter((call) => ids.has(call.callId));
  return still.some((call) => call.question) ? still : [];
}

const isQuestion = objectWith({ text: isText });

const isWithinCall = objectWith<WithinCall>({
  callId: isText,
  name: isText,
  args: isObject,
  question: isQuestion,
  effects: maybe(listOf(isObject)),
  answer: maybe(isAnswer),
});

export const isWaitingCall: Fits = objectWith<WaitingCall>({
  callId: isText,
  step: Number.isSafeInteger,
  question: maybe(isQuestion),
  tool: maybe(isText),
  arguments: maybe(isText),
  args: maybe(isObject),
  instead: maybe(isObject),
  approved: maybe(listOf(isText)),
  answeredGuard: maybe(Number.isSafeInteger),
  answer: maybe(isAnswer),
  within: maybe(listOf(isWithinCall)),
  log: maybe(listOf(isObject)),
});

/** Returns whether a value has the form of an answer, for programs that get answers from elsewhere. */
export function isAnswer(value: unknown): value is Answer {
  if (!isObject(value)) return typeof value === "boolean" || typeof value === "string";
  if (upToOf(value) !== undefined) return true;
  const { args, output } = value;
  return Object.keys(value).length === 1 && (typeof output === "string" || isObject(args));
}

/** Returns the user's own arguments for a call, if an answer gave some. */
export function givenArguments({ answer, instead }: Partial<WaitingCall> = {}): WaitingCall["instead"] {
  return typeof answer === "object" && "args" in answer ? answer.args : instead;
}
