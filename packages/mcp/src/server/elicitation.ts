import { createHash, randomBytes } from "node:crypto";
import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type RequestStateCodec,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import {
  type ApprovalQuestion,
  type Approve,
  type ExecuteOptions,
  isToolError,
  ToolError,
  type ToolOutcome,
} from "@toolcrib/core";
import { choicesOf, showLines } from "@toolcrib/core/internal";
import { isObject, showInvisible } from "@toolcrib/core/text";
import { record } from "../mapping.ts";

/** Answers from earlier rounds of a call. The client sends it back with its answer, sealed by `roundState`. */
interface RoundState {
  /** The roots of the client, where it was asked for them. */
  readonly roots?: readonly string[] | undefined;
  /** Questions that were answered with yes. */
  readonly allowed: readonly string[];
  /** The question that the client's answer is for. */
  readonly asked: string;
}

/** Seals what goes through the client between two rounds of a call, for ten minutes. The key is this process's own. */
export const roundState: RequestStateCodec<RoundState> = createRequestStateCodec<RoundState>({
  key: randomBytes(32),
  bind: ({ mcpReq, http }) => `${mcpReq.method}\0${http?.authInfo?.clientId ?? ""}`,
});

/** Milliseconds that a user may take to answer. */
const answerTimeoutMs = 600_000;

/**
 * Makes the form of a question, in which all can be seen. Accepting one without fields is the yes; a question that needs an output
 * has one field, and says that the model asks.
 */
function formOf(question: ApprovalQuestion) {
  const choices = choicesOf(question).map(showInvisible);
  const answer = { type: "string" as const, title: "Answer", ...(choices.length > 0 && { enum: choices }) };
  const properties: Record<string, typeof answer> = question.needs ? { answer } : {};
  const required = Object.keys(properties);
  const requestedSchema = { type: "object" as const, properties, ...(required.length > 0 && { required }) };
  const text = showLines(question.text);
  return { message: question.needs ? `The model asks: ${text}` : text, requestedSchema };
}

/** The questions of guards about one call, put to the client's user by elicitation (MCP, client features). */
export interface Questions {
  /** Undefined where questions are not answered in place: the call then ends with `approval_required`. */
  readonly approve: Approve | undefined;
  /** Binds calls within the call; undefined where they may ask as it does. */
  readonly caller?: ExecuteOptions["caller"];
  /** Returns what is sent instead of the outcome: a question that has no answer yet. */
  next(outcome: ToolOutcome, roots: readonly string[] | undefined): Promise<InputRequiredResult | undefined>;
}

/** Returns the outcome in words for a client whose user cannot be asked. */
export function withoutAnswer(outcome: ToolOutcome): ToolOutcome {
  const question = questionOf(outcome);
  if (outcome.ok || !question) return outcome;
  const { toolName, message } = outcome.error;
  const explained = `${message} (this client cannot ask its user, because it does not support elicitation)`;
  const error = new ToolError({ code: "approval_required", toolName, message: explained, details: { question } });
  return { ...outcome, error };
}

/**
 * Chooses how to ask. In revisions up to 2025-11-25 a question is a request of its own; later it is the result of the call, which
 * the client then repeats.
 */
export function questionsFor(
  server: Server,
  context: ServerContext,
  name: string,
  args: Record<string, unknown> | undefined,
): Questions {
  if (!offersForms(server, context)) return { approve: undefined, next: async () => undefined };
  return context.mcpReq.envelope === undefined ? inPlace(context) : byRounds(context, name, args);
}

/** Returns the state of the round before, if this is a later one. */
export function earlierRound({ mcpReq }: ServerContext): RoundState | undefined {
  const state = mcpReq.requestState<RoundState>();
  return isObject(state) ? state : undefined;
}

/** Reads what the client declares that it can do. */
export function capabilitiesOf(server: Server, { mcpReq }: ServerContext): Record<string, unknown> {
  return record(record(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities());
}

/** Returns whether a client offers forms; one that names no mode does. */
function offersForms(server: Server, context: ServerContext): boolean {
  const { elicitation } = capabilitiesOf(server, context);
  return isObject(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined);
}

function inPlace({ mcpReq }: ServerContext): Questions {
  return {
    approve: async (_call, question) => {
      const options = { timeout: answerTimeoutMs, signal: mcpReq.signal };
      return answerOf(question, await mcpReq.elicitInput({ mode: "form", ...formOf(question) }, options));
    },
    next: async () => undefined,
  };
}

function byRounds(context: ServerContext, name: string, args: Record<string, unknown> | undefined): Questions {
  const earlier = earlierRound(context);
  // An answer is for this call and this question alone.
  const keyOf = ({ text }: ApprovalQuestion): string =>
    createHash("sha256")
      .update(JSON.stringify([name, args ?? null, text]))
      .digest("base64url");
  const answer = earlier && inputResponse(context.mcpReq.inputResponses, earlier.asked);
  const allowed = [...(earlier?.allowed ?? [])];
  let unanswered: ApprovalQuestion | undefined;
  const approve: Approve = (_call, question) => {
    const key = keyOf(question);
    if (allowed.includes(key)) return true;
    if (key === earlier?.asked && answer?.kind === "elicit") {
      const given = answerOf(question, answer);
      if (given === true) allowed.push(key);
      return given;
    }
    unanswered = question;
    return false;
  };
  return {
    approve: earlier ? approve : undefined,
    // A call that is made again cannot ask from within: an answer would be for another call, and what it did would happen again.
    caller: {},
    async next(outcome, roots) {
      unanswered ??= questionOf(outcome);
      if (!unanswered) return undefined;
      const asked = keyOf(unanswered);
      return inputRequired({
        inputRequests: { [asked]: inputRequired.elicit(formOf(unanswered)) },
        requestState: await roundState.mint({ roots, allowed, asked }, context),
      });
    },
  };
}

function questionOf(outcome: ToolOutcome): ApprovalQuestion | undefined {
  if (outcome.ok) return undefined;
  const { error } = outcome;
  return isToolError(error) && error.code === "approval_required" ? error.details.question : undefined;
}

function answerOf(
  question: ApprovalQuestion,
  { action, content }: { readonly action: string; readonly content?: unknown },
): true | string | { readonly output: string } {
  if (action !== "accept")
    return action === "decline" ? "the user said no to this call" : "the user left the question unanswered";
  const fields = record(content);
  if (question.needs) {
    const choices = choicesOf(question);
    const { answer } = fields;
    const output = choices.length === 0 ? answer : choices.find((choice) => showInvisible(choice) === answer);
    return typeof output === "string" ? { output } : "the client answered the question without its field answer";
  }
  // `{ approve: false }`, say.
  return Object.keys(fields).length === 0 || "the client answered the question with fields that it does not have";
}
