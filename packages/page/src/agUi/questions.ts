import type { Interrupt, ResumeEntry } from "@ag-ui/core";
import type { PendingCall } from "@toolcrib/agent";
import { isObject } from "@toolcrib/core/text";
import { approvalIdOf } from "../approvalId.ts";
import { PageError } from "../errors.ts";
import { isPageAnswer, type PageAnswer } from "../protocol.ts";

/** A question about a call. */
export interface CallInterrupt extends Interrupt {
  readonly toolCallId: string;
}

type Properties = Readonly<Record<string, object>>;

/** Returns the calls that wait for their result from the page. */
export function pageCallsOf(pending: readonly PendingCall[], pageTools: ReadonlySet<string>): PendingCall[] {
  return pending.filter((call) => isOpen(call) && isPageCall(call, pageTools));
}

/** Returns the questions for the user as AG-UI has them: an interrupt for each. */
export function interruptsOf(pending: readonly PendingCall[], pageTools: ReadonlySet<string>): CallInterrupt[] {
  return pending.filter((call) => isOpen(call) && !isPageCall(call, pageTools)).map(toInterrupt);
}

function isOpen({ answer }: PendingCall): boolean {
  return answer === undefined;
}

function isPageCall({ name, question }: PendingCall, pageTools: ReadonlySet<string>): boolean {
  return question.needs === "output" && pageTools.has(name);
}

function toInterrupt(call: PendingCall): CallInterrupt {
  const { callId, name, args, question, within } = call;
  const { text: message, data, needs } = question;
  const more = { ...(data !== undefined && { data }), ...(within !== undefined && { within }) };
  const asked = { id: approvalIdOf(call), toolCallId: callId, message, metadata: { name, args, ...more } };
  if (needs === "output") {
    const choices = isObject(data) && Array.isArray(data.choices) ? { enum: data.choices } : {};
    return { ...asked, reason: "input_required", responseSchema: schemaOf({ output: { type: "string", ...choices } }) };
  }
  const always = isObject(data) && isObject(data.remember) ? { always: { type: "boolean" } } : {};
  const properties = {
    approved: { type: "boolean" },
    reason: { type: "string" },
    editedArgs: { type: "object" },
    ...always,
  };
  return { ...asked, reason: "tool_call", responseSchema: schemaOf(properties) };
}

function schemaOf(properties: Properties): Interrupt["responseSchema"] & object {
  const required = Object.keys(properties).slice(0, 1);
  return { type: "object", properties, required, additionalProperties: false };
}

/** Reads the answers to all open questions, by the id of the call. Throws a PageError unless there is one for each, in a form that it takes. */
export function readAnswers(
  resume: readonly ResumeEntry[],
  open: readonly CallInterrupt[],
): ReadonlyMap<string, PageAnswer> {
  const answers = new Map<string, PageAnswer>();
  const answered = new Set<string>();
  for (const { interruptId, status, payload } of resume) {
    const interrupt = open.find(({ id }) => id === interruptId);
    if (!interrupt)
      throw new PageError(409, `No question has the id ${JSON.stringify(interruptId)}, or it is answered.`);
    if (answered.has(interruptId)) throw new PageError(400, `resume answers ${JSON.stringify(interruptId)} twice.`);
    answered.add(interruptId);
    answers.set(
      interrupt.toolCallId,
      status === "cancelled" ? "the user dismissed the question" : readAnswer(payload, interrupt),
    );
  }
  const missing = open.filter(({ id }) => !answered.has(id)).map(({ id }) => JSON.stringify(id));
  if (missing.length > 0) throw new PageError(409, `resume must answer all questions; missing: ${missing.join(", ")}.`);
  return answers;
}

const forms = {
  input_required: "{ output: string }, or { approved: false, reason?: string }",
  tool_call:
    "{ approved: boolean, reason?: string, editedArgs?: object, always?: boolean }, the last two only with a yes, and not together",
};

function readAnswer(payload: unknown, { id, reason: kind }: Interrupt): PageAnswer {
  const given = isObject(payload) ? payload : { approved: payload };
  const { approved, reason = false, editedArgs: args, always = false, ...others } = given;
  const isOutput = kind === "input_required";
  const yes = args !== undefined ? { args, ...(always !== false && { always }) } : always === false || { always };
  const no = args === undefined && always === false ? reason : undefined;
  const answer = approved === false ? no : approved === true && !isOutput ? yes : undefined;
  const isWhole = Object.keys(others).length === 0 && (reason === false || typeof reason === "string");
  if (isWhole && isPageAnswer(answer)) return answer;
  if (isOutput && typeof given.output === "string" && Object.keys(given).length === 1) return { output: given.output };
  throw new PageError(
    400,
    `The payload for ${JSON.stringify(id)} must be ${isOutput ? forms.input_required : forms.tool_call}.`,
  );
}
