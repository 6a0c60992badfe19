import type { ContentPart, Message, ResumeEntry, RunAgentInput, Tool } from "@ag-ui/core";
import type { ImageBlock, PendingCall, TextBlock, UserContent } from "@toolcrib/agent";
import { isObject } from "@toolcrib/core/text";
import { PageError } from "../errors.ts";
import type { PageAction, PageAnswer, SessionState } from "../protocol.ts";
import { addPageTools } from "./pageTools.ts";
import { interruptsOf, pageCallsOf, readAnswers } from "./questions.ts";

/** The part of a request that is read. State, context and forwarded properties are not. */
export type AgUiInput = Pick<RunAgentInput, "threadId" | "runId" | "protocolVersion" | "messages" | "tools"> & {
  readonly resume: readonly ResumeEntry[];
};

const roles = ["developer", "system", "assistant", "user", "tool", "activity", "reasoning"];

/** Reads the body of a request; throws a PageError for what is no input of AG-UI. */
export function readInput(body: Readonly<Record<string, unknown>>): AgUiInput {
  const { threadId, runId, protocolVersion, messages, tools = [], resume = [] } = body;
  const refuse = (what: string): PageError => new PageError(400, `This is no input of AG-UI: ${what}.`);
  if (typeof threadId !== "string") throw refuse("threadId must be a string");
  if (typeof runId !== "string" || runId === "" || runId.length > 200)
    throw refuse("runId must be a string of 1 to 200 characters");
  if (!Array.isArray(messages) || !messages.every(isMessage))
    throw refuse("messages must be a list of messages, each with id and role");
  if (!Array.isArray(tools) || !tools.every(isTool))
    throw refuse("tools must be a list of tools, each with name and description");
  if (!Array.isArray(resume) || !resume.every(isResume))
    throw refuse("resume must be a list of { interruptId, status, payload }");
  const version = typeof protocolVersion === "string" ? { protocolVersion } : {};
  return { threadId, runId, ...version, messages, tools, resume };
}

function isMessage(value: unknown): value is Message {
  if (!isObject(value) || typeof value.id !== "string" || !roles.includes(String(value.role))) return false;
  const { toolCalls = [] } = value;
  return Array.isArray(toolCalls) && toolCalls.every((call) => isObject(call) && typeof call.id === "string");
}

function isTool(value: unknown): value is Tool {
  return isObject(value) && typeof value.name === "string" && typeof value.description === "string";
}

function isResume(value: unknown): value is ResumeEntry {
  return (
    isObject(value) && typeof value.interruptId === "string" && ["resolved", "cancelled"].includes(String(value.status))
  );
}

/**
 * Returns what the input asks for. Of its messages only the last count: a new one of the user, or results of the page's tools. Throws a PageError for what it
 * may not ask now.
 */
export function actionOf(input: AgUiInput, state: SessionState, pageTools: ReadonlySet<string>): PageAction {
  const tools = addPageTools(input.tools, state, pageTools);
  const turn = tools && { tools };
  const open = interruptsOf(state.pending, pageTools);
  const results = resultsOf(input.messages, pageCallsOf(state.pending, pageTools));
  if (open.length > 0 && input.resume.length === 0)
    throw new PageError(
      409,
      `Answer ${open.map(({ id }) => JSON.stringify(id)).join(", ")} first, by resume: no message is taken meanwhile.`,
    );
  const answers = new Map([...results, ...readAnswers(input.resume, open)]);
  if (answers.size > 0) return { type: "answer", answers, ...turn };
  return { type: "send", content: newMessage(input.messages, state), ...turn };
}

/** Returns the results that the page sends at the end of its messages, for calls that wait for one. */
function resultsOf(messages: readonly Message[], waiting: readonly PendingCall[]): ReadonlyMap<string, PageAnswer> {
  const before = messages.findLastIndex(({ role }) => role !== "tool");
  const results = new Map<string, PageAnswer>();
  for (const message of messages.slice(before + 1)) {
    if (message.role !== "tool" || !waiting.some(({ callId }) => callId === message.toolCallId)) continue;
    const { content, error } = message;
    const output = typeof content === "string" ? content : textOf(content);
    results.set(message.toolCallId, {
      output: typeof error === "string" ? `Error: ${error}\n${output}`.trim() : output,
    });
  }
  return results;
}

function textOf(parts: readonly ContentPart[]): string {
  if (!Array.isArray(parts))
    throw new PageError(400, "The content of a tool's message must be text, or a list of parts.");
  return parts.map((part) => (part.type === "text" ? part.text : `[${part.type} left out]`)).join("\n");
}

function newMessage(messages: readonly Message[], state: SessionState): UserContent {
  const last = messages.at(-1);
  if (last?.role === "tool" && state.messages.some((one) => one.role === "tool" && one.callId === last.toolCallId))
    throw new PageError(409, `The call ${JSON.stringify(last.toolCallId)} has its result. Read the session again.`);
  if (last?.role !== "user") {
    const found = last ? `the last is of the role ${last.role}` : "there is none";
    throw new PageError(400, `The last message must be a new one of the user: ${found}.`);
  }
  const { content } = last;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw new PageError(400, "The content of a message must be text, or a list of parts.");
  return content.map(toBlock);
}

/** Also reads the `binary` part of clients before 1.0. */
function toBlock(part: unknown): TextBlock | ImageBlock {
  const { type, text, source, data, mimeType } = isObject(part) ? part : {};
  if (type === "text" && typeof text === "string") return { type, text };
  const given =
    type === "binary"
      ? { value: data, mimeType }
      : type === "image" && isObject(source) && source.type === "data"
        ? source
        : {};
  if (typeof given.value === "string" && typeof given.mimeType === "string" && given.mimeType.startsWith("image/"))
    return { type: "image", data: given.value, mimeType: given.mimeType };
  throw new PageError(
    400,
    `A part of a message must be text, or a picture with its bytes; this one is ${JSON.stringify(type ?? null)}.`,
  );
}
