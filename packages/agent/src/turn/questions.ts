import {
  type AnyToolRegistry,
  type ApprovalQuestion,
  type Approve,
  type ExecutableTool,
  type ExecuteOptions,
  type GuardedCall,
  type ToolErrorDetails,
  toolFingerprint,
} from "@toolcrib/core";
import { attempt, canonicalJson, guardedCallOf, offeredFolder, upToOf } from "@toolcrib/core/internal";
import { denied, interrupted, notRun, toolMessage } from "../conversation/conversation.ts";
import { frozenJson } from "../conversation/frozenJson.ts";
import type { Answers } from "../conversation/state.ts";
import {
  type Answer,
  callsList,
  callsMade,
  givenArguments,
  isAnswer,
  type WaitingCall,
} from "../conversation/waiting.ts";
import { invalidOption } from "../errors.ts";
import type { PendingCall, ToolCallBlock, ToolMessage } from "../messages.ts";

/** A question about a call: without its answer the call waits. */
export type Asked = Omit<WaitingCall, "step">;

/** Reads a guard's question as it is kept until the answer. Without fingerprints no yes would hold, so there are always some. */
export function questionOf(
  callId: string,
  { question, tool, args, within }: ToolErrorDetails["approval_required"],
  sent: ToolCallBlock["args"],
): Asked & { readonly question: ApprovalQuestion } {
  return {
    callId,
    question: savedQuestion(question),
    tool: tool ?? unknownPrint(),
    arguments: args ? fingerprintOf(args) : unknownPrint(),
    ...changedArguments(args, sent),
    ...(within && { within: within.map((call) => ({ ...frozenJson(call), question: savedQuestion(call.question) })) }),
  };
}

/** Returns what is kept of a call in which others are asked about. Answers to questions about itself stay. */
export function askedWithin(
  { id, args }: ToolCallBlock,
  details: ToolErrorDetails["approval_required"],
  waited: WaitingCall | undefined,
  tool: ExecutableTool | undefined,
): Asked {
  const { question, answer, approved: earlier = [] } = waited ?? {};
  const approved = question && answer === true ? [...earlier, fingerprintOf(question)] : earlier;
  const asked = questionOf(id, { ...details, args, ...(tool && { tool: toolFingerprint(tool) }) }, args);
  return approved.length > 0 ? { ...asked, approved } : asked;
}

function changedArguments(args: ToolCallBlock["args"] | undefined, sent: ToolCallBlock["args"]): Pick<Asked, "args"> {
  if (!args || fingerprintOf(args) === fingerprintOf(sent)) return {};
  // Undefined if they are nested too deep, or in a cycle.
  const kept = attempt(() => frozenJson(args));
  return kept ? { args: kept } : {};
}

interface AnsweredCall {
  readonly waited: WaitingCall;
  readonly sent: ToolCallBlock["args"];
  /** The user's own arguments as a guard sees them: they are the yes to the guard whose question they answer. */
  readonly given: Readonly<Record<string, unknown>> | undefined;
  askAnew(asked: Asked): void;
}

/** Answers guards as the user has: a yes holds for the same tool, arguments and question (text and data); else `askAnew` is told. */
export function approveAsAnswered({ waited, sent, given, askAnew }: AnsweredCall): Approve {
  const { question: before, answer, approved: earlier = [] } = waited;
  const approved = before && answer === true ? [...earlier, fingerprintOf(before)] : earlier;
  const isGivenNow = typeof answer === "object" && "args" in answer;
  const answeredGuard = before && isGivenNow ? (before.guard ?? 0) : waited.answeredGuard;
  const givenPrint = given && fingerprintOf(given);
  return (call: GuardedCall, question) => {
    const asked = questionOf(waited.callId, { question, tool: toolFingerprint(call.tool), args: call.args }, sent);
    const isSameTool = asked.tool === waited.tool;
    const isGiven = isSameTool && asked.arguments === givenPrint;
    if (isGiven && !question.needs && answeredGuard === (question.guard ?? 0)) return true;
    const isSame = isSameTool && asked.arguments === waited.arguments;
    if (isSame && approved.includes(fingerprintOf(asked.question))) return true;
    askAnew({
      ...asked,
      ...(isSame && approved.length > 0 && { approved }),
      ...(isGiven && answeredGuard !== undefined && { answeredGuard }),
    });
    return false;
  };
}

/** Returns the result of a call whose question was answered with no, or with its output; undefined for any other. */
export function answeredResult(call: ToolCallBlock, waited: WaitingCall | undefined): ToolMessage | undefined {
  const answer = waited?.answer;
  if (answer === undefined || answer === true) return undefined;
  if (typeof answer === "object")
    return "output" in answer ? toolMessage(call, { output: answer.output, isError: false }) : undefined;
  return withCalls(denied(call, answer === false || answer === "" ? "this call was not approved" : answer), waited);
}

/** Adds to the result of a call that keeps a record what stays, so that it is not done twice. */
function withCalls(result: ToolMessage, waited: WaitingCall | undefined): ToolMessage {
  if (!waited?.log) return result;
  const list = callsList(waited.log);
  const stays = `; ${callsMade(waited.log)} calls were made, and stay made`;
  return { ...result, output: `${result.output}${stays}${list === "" ? "" : `:\n${list}`}` };
}

/** Gets answers to questions while the turn runs, by the id of the call. Without any the turn ends, and the questions stay. */
export type Ask = (pending: readonly PendingCall[]) => Promise<Answers | undefined>;

interface Askers {
  readonly approve?: Approve | undefined;
  readonly onQuestions?: Ask | undefined;
}

interface Asking extends Pick<ExecuteOptions, "labels"> {
  readonly tools: Pick<AnyToolRegistry, "check" | "get">;
  readonly clock: { readonly signal: AbortSignal };
}

/** Returns who is asked while the turn runs: `approve` about one call after the other, then `onQuestions` about all; undefined for nobody. */
export function askerOf({ approve, onQuestions }: Askers, asking: Asking): Ask | undefined {
  if (!approve) return onQuestions;
  const times = new Map<string, number>();
  return async (pending) => {
    const answers: [string, Answer][] = [];
    const covered = new Set<string>();
    // Of calls within one some may have an answer already.
    for (const call of pending.filter((one) => one.answer === undefined)) {
      const kind = `${call.within} ${call.name}`;
      if (covered.has(kind)) continue;
      const subject = `${call.callId} ${call.question.guard}`;
      const count = (times.get(subject) ?? 0) + 1;
      times.set(subject, count);
      const answer = count > mostTimes ? undefined : await answerTo(call, approve, asking);
      if (asking.clock.signal.aborted) return undefined;
      if (answer !== undefined) answers.push([call.callId, answer]);
      // Those that it does not cover are asked about again.
      if (upToOf(answer) !== undefined) covered.add(kind);
    }
    return answers.length > 0 ? Object.fromEntries(answers) : onQuestions?.(pending);
  };
}

/** Limits how often `approve` is asked about one call for one guard: its question may change each time. */
const mostTimes = 8;
/** Limits how often `approve` may give an answer that cannot be used. */
const mostAnswers = 3;

/** Returns the answer of `approve`; undefined where it gives none that can be used. A throw denies. */
async function answerTo(call: PendingCall, approve: Approve, asking: Asking): Promise<Answer | undefined> {
  const { callId, name, args, within } = call;
  const { tools, labels, clock } = asking;
  const { signal } = clock;
  const tool = tools.get(name);
  // It is gone, of which the registry tells the model.
  if (!tool) return true;
  const guarded = await guardedCallOf(tool, { name, args, callId, within, labels, signal });
  let { question } = call;
  for (let count = 0; count < mostAnswers && !signal.aborted; count += 1) {
    const given = await Promise.resolve()
      .then(() => approve(guarded, question))
      .catch(() => false);
    const answer = isAnswer(given) ? given : false;
    const problem = await misfit(answer, call, asking);
    if (problem === undefined) return answer;
    question = { ...call.question, refused: `The answer ${problem}` };
  }
  return undefined;
}

/** Asks one question at a time, also where calls run side by side. */
export function oneAtATime(approve: Approve): Approve {
  let last: Promise<unknown> = Promise.resolve();
  return (call, question) => {
    const answer = last.then(() => (call.signal?.aborted ? false : approve(call, question)));
    last = answer.catch(() => undefined);
    return answer;
  };
}

/** Throws where an answer does not fit its question, or its arguments their tool; what guards say of them is for later. */
export async function checkFit(pending: readonly PendingCall[], answers: Answers, asking: Asking): Promise<void> {
  for (const call of pending) {
    const answer = Object.hasOwn(answers, call.callId) ? answers[call.callId] : undefined;
    const problem = answer === undefined ? undefined : await misfit(answer, call, asking);
    if (problem !== undefined) throw invalidOption(`The answer for ${call.callId} ${problem}`);
  }
}

/** Says why an answer cannot be used; undefined for one that can. */
async function misfit(answer: Answer, call: PendingCall, asking: Asking): Promise<string | undefined> {
  const { callId, name, question } = call;
  const { tools, labels, clock } = asking;
  const { signal } = clock;
  const given = givenArguments({ answer });
  if (upToOf(answer) !== undefined && (call.within === undefined || offeredFolder(question) === undefined))
    return "cannot be { upTo }: its question offers no folder for more calls (question.data.upTo).";
  if (question.needs && (given || answer === true)) return "must be { output } or a no: a yes is not enough.";
  const checked = given && (await tools.check(name, given, { callId, labels, signal, within: call.within }));
  if (!checked || checked.ok || checked.error.code !== "invalid_arguments") return undefined;
  return `does not fit ${name}. ${checked.error.message}`;
}

/** Returns the results of calls that wait when a message comes instead of answers: what is asked is denied, the rest is not run. */
export function resultsWithoutAnswer(
  calls: readonly ToolCallBlock[],
  waiting: ReadonlyMap<string, WaitingCall>,
): readonly ToolMessage[] {
  return calls.map((call) => {
    const waited = waiting.get(call.id);
    if (!waited?.question) return notRun(call, "not answered");
    if (waited.log && !waited.within) return withCalls(interrupted(call), waited);
    const why = "the user sent a message instead of an answer";
    return answeredResult(call, waited) ?? withCalls(denied(call, why), waited);
  });
}

export function isUnanswered(waited: WaitingCall | undefined): boolean {
  // An answer for several calls may be one for those beside it, of which their tool knows.
  if (waited?.within?.some(({ answer }) => upToOf(answer) !== undefined)) return false;
  if (waited?.within) return waited.within.some(({ answer }) => answer === undefined);
  return waited?.question !== undefined && waited.answer === undefined;
}

/** Returns the fingerprint of arguments or a question, whatever the order of their keys. */
function fingerprintOf(value: unknown): string {
  const print = attempt(() => {
    const plain: unknown = JSON.parse(JSON.stringify(value, withoutCollections));
    // Not imported: node:crypto takes 8 ms to load, and few calls are asked about.
    return process.getBuiltinModule("node:crypto").createHash("sha256").update(canonicalJson(plain)).digest("hex");
  });
  return print ?? unknownPrint();
}

/** Converts values that a schema library may make of arguments and JSON would drop. */
function withoutCollections(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  return value instanceof Map || value instanceof Set ? [...value] : value;
}

/** Returns one that is equal to no other: a yes holds for nothing, and the question is asked anew. */
function unknownPrint(): string {
  return `unknown-${crypto.randomUUID()}`;
}

function savedQuestion({ text, data, needs, guard }: ApprovalQuestion): ApprovalQuestion {
  const asked = { text: String(text).toWellFormed(), ...(needs && { needs }), ...(guard !== undefined && { guard }) };
  // Undefined if it is nested too deep, or in a cycle.
  const kept = data === undefined ? undefined : attempt(() => frozenJson(data));
  return Object.freeze(kept === undefined ? asked : { ...asked, data: kept });
}
