import {
  type AnyToolRegistry,
  type ApprovalQuestion,
  type Approve,
  type ExecuteOptions,
  type GuardedCall,
  type ToolErrorDetails,
  toolFingerprint,
} from "@toolcrib/core";
import { attempt, canonicalJson, quote } from "@toolcrib/core/internal";
import { messageOf } from "@toolcrib/core/text";
import { denied, notRun, toolMessage } from "../conversation/conversation.ts";
import { frozenJson } from "../conversation/frozenJson.ts";
import type { History } from "../conversation/history.ts";
import type { Answers } from "../conversation/state.ts";
import { type Answer, givenArguments, isAnswer, type WaitingCall } from "../conversation/waiting.ts";
import { AgentError } from "../errors.ts";
import type { ToolCallBlock, ToolMessage } from "../messages.ts";

/** A question about a call: without its answer the call waits. */
export type Asked = Omit<WaitingCall, "step">;

/** Asks one question at a time, also where calls run side by side. */
export function oneAtATime(approve: Approve): Approve {
  let last: Promise<unknown> = Promise.resolve();
  return (call, question) => {
    const answer = last.then(() => (call.signal?.aborted ? false : approve(call, question)));
    last = answer.catch(() => undefined);
    return answer;
  };
}

/** Reads a guard's question as it is kept until the answer. Without fingerprints no yes would hold, so there are always some. */
export function questionOf(
  callId: string,
  { question, tool, args }: ToolErrorDetails["approval_required"],
  sent: ToolCallBlock["args"],
): Asked & { readonly question: ApprovalQuestion } {
  return {
    callId,
    question: savedQuestion(question),
    tool: tool ?? unknownPrint(),
    arguments: args ? fingerprintOf(args) : unknownPrint(),
    ...changedArguments(args, sent),
  };
}

function changedArguments(args: ToolCallBlock["args"] | undefined, sent: ToolCallBlock["args"]): Pick<Asked, "args"> {
  if (!args || fingerprintOf(args) === fingerprintOf(sent)) return {};
  // Undefined if they are nested too deep, or in a cycle.
  const kept = attempt(() => frozenJson(args));
  return kept ? { args: kept } : {};
}

/** Holds what is known of a call that has waited, and what to do about a new question. */
interface AnsweredCall {
  readonly waited: WaitingCall;
  readonly sent: ToolCallBlock["args"];
  /** The user's own arguments as a guard sees them: they are the yes to the guard whose question they answer. */
  readonly given: Readonly<Record<string, unknown>> | undefined;
  readonly approve: Approve | undefined;
  askAnew(asked: Asked): void;
}

/**
 * Answers the guards of a call with what the user has answered. A yes holds for the same tool, arguments and question (its
 * text and data) alone; otherwise `approve` is asked, or, without one, `askAnew` is told and the call does not run.
 */
export function approveAsAnswered({ waited, sent, given, approve, askAnew }: AnsweredCall): Approve {
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
    if (approve) return approve(call, question);
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
  return denied(call, answer === false || answer === "" ? "this call was not approved" : answer);
}

/** Returns frozen copies of the answers. Throws unless each is one to a question that waits. */
export function checkAnswers(history: History, answers: Answers): Answers {
  const pending = new Map(history.pending.map((call) => [call.callId, call]));
  if (pending.size === 0) throw refused("No call waits for an answer; see agent.pending.");
  if (typeof answers !== "object" || answers === null || Array.isArray(answers))
    throw refused(`approve needs an object of answers by the id of the call: { [callId]: ${answerForms} }.`);
  const checked = Object.entries(answers).map(([id, answer]) => {
    const call = pending.get(id);
    if (!call) throw refused(`No call with the id ${quote(id)} waits; agent.pending lists those that do.`);
    if (!isAnswer(answer)) throw refused(`The answer for ${id} must be ${answerForms}, received ${quote(answer)}.`);
    if (call.question.needs && (answer === true || (typeof answer === "object" && "args" in answer)))
      throw refused(`The question about ${id} is answered with { output }: a yes is not enough.`);
    return [id, copyOf(id, answer)] as const;
  });
  return Object.fromEntries(checked);
}

const answerForms = "true, false, a reason, { args } or { output }";

function copyOf(id: string, answer: Answer): Answer {
  try {
    return frozenJson(answer);
  } catch (cause) {
    throw refused(`The answer for ${id} cannot be saved: ${messageOf(cause)}.`);
  }
}

function refused(message: string): AgentError {
  return new AgentError({ code: "invalid_option", message });
}

/** Throws where arguments of an answer do not fit their tool; what guards say of them is for later. */
export async function checkGivenArguments(
  calls: readonly ToolCallBlock[],
  answers: Answers,
  tools: Pick<AnyToolRegistry, "check">,
  options: ExecuteOptions,
): Promise<void> {
  for (const { id: callId, name } of calls) {
    const answer = Object.hasOwn(answers, callId) ? answers[callId] : undefined;
    const given = answer && givenArguments({ answer });
    const checked = given && (await tools.check(name, given, { ...options, callId }));
    if (checked && !checked.ok && checked.error.code === "invalid_arguments")
      throw refused(`The answer for ${callId} does not fit ${name}. ${checked.error.message}`);
  }
}

/** Returns the results of calls that wait when a message comes instead of answers: what is asked is denied, the rest is not run. */
export function resultsWithoutAnswer(
  calls: readonly ToolCallBlock[],
  waiting: ReadonlyMap<string, WaitingCall>,
): readonly ToolMessage[] {
  return calls.map((call) => {
    const waited = waiting.get(call.id);
    if (!waited?.question) return notRun(call, "not answered");
    return answeredResult(call, waited) ?? denied(call, "the user sent a message instead of an answer");
  });
}

export function isUnanswered(waited: WaitingCall | undefined): boolean {
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

/** Returns the question as JSON can hold it. */
function savedQuestion({ text, data, needs, guard }: ApprovalQuestion): ApprovalQuestion {
  const asked = { text: String(text).toWellFormed(), ...(needs && { needs }), ...(guard !== undefined && { guard }) };
  // Undefined if it is nested too deep, or in a cycle.
  const kept = data === undefined ? undefined : attempt(() => frozenJson(data));
  return Object.freeze(kept === undefined ? asked : { ...asked, data: kept });
}
