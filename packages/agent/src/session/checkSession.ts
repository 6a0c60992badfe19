import type { ChatTool } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";
import { frozenJson } from "../conversation/frozenJson.ts";
import { repairConversation } from "../conversation/repair.ts";
import type { ConversationLine, ConversationState } from "../conversation/state.ts";
import { isAnswer, isWaiting, isWaitingCall, stillWaiting, type WaitingCall } from "../conversation/waiting.ts";
import { AgentError } from "../errors.ts";
import type { Message } from "../messages.ts";
import type { ConversationChange, Opening } from "../provider.ts";
import { type Session, sessionFormat, sessionVersion, withBlocks } from "./session.ts";

/** Checks a session that was read or passed in; throws `bad_session` with `source` in its message. */
export function checkSession(value: unknown, source: string): Session {
  const session = checkHeader(value, source);
  if (!Array.isArray(session.messages)) throw badSession(source, "messages is not a list");
  const { pending: saved, foundTools: names, opening, changes, ...rest } = session;
  const given = session.messages.map((message, index) => checkMessage(message, `${source}, message ${index + 1}`));
  const messages = repairConversation(given);
  // Without it the next request opens anew: a change would stand elsewhere.
  const announced = messages.length === given.length ? checkAnnounced({ opening, changes }, source) : {};
  const pending = stillWaiting(messages, checkPending(saved, source));
  const foundTools = checkFoundTools(names, source);
  return {
    ...(rest as Session),
    messages,
    ...(pending.length > 0 && { pending }),
    ...(foundTools.length > 0 && { foundTools }),
    ...announced,
  };
}

/** Checks a line of a journal after its header, and freezes copies of what joins the conversation. Throws `bad_session`. */
export function checkLine(line: unknown, at: string, state: AnsweredState): ConversationLine {
  if (!isObject(line))
    throw badSession(at, "it is not a JSON object; restore the file from a copy, or delete this line and all after it");
  return { ...line, ...checkedFields(line, at, state) } as unknown as ConversationLine;
}

/** The calls to which there may be an answer. */
type AnsweredState = Pick<ConversationState, "waiting" | "recorded">;

function checkedFields(line: Record<string, unknown>, at: string, { waiting, recorded }: AnsweredState): object {
  const { type, message, usage, pending, messages, callId, callIds, lines, answers, count } = line;
  switch (type) {
    case "message":
      return {
        message: checkMessage(message, at),
        usage: isObject(usage) ? usage : undefined,
        pending: pending === undefined ? undefined : checkWaiting(pending, at),
      };
    case "answers":
      for (const [id, answer] of Object.entries(isObject(answers) ? answers : {}))
        if (!(isWaiting(id, waiting) || recorded.has(id)) || !isAnswer(answer))
          throw badSession(
            at,
            "an answer is true, false, a reason, { args }, { output } or { upTo } for a call that waits",
          );
      return { answers: isObject(answers) ? answers : {} };
    case "tool-start":
      return { callIds: Array.isArray(callIds) ? callIds.map(String) : [] };
    case "within":
      if (typeof callId !== "string" || !Array.isArray(lines) || !lines.every(isObject))
        throw badSession(at, "lines within a call have its callId, and are objects");
      return { lines: frozenJson(lines) };
    case "messages":
      if (!Array.isArray(messages)) throw badSession(at, "messages is not a list");
      return {
        messages: messages.map((one) => checkMessage(one, at)),
        pending: checkPending(line.pending, at),
        foundTools: checkFoundTools(line.foundTools, at),
        ...checkAnnounced(line, at),
      };
    case "opening":
      return checkOpening(line, at);
    case "change":
      return checkChange(line, at);
    case "withdrawn":
      if (!Number.isSafeInteger(count) || Number(count) < 0) throw badSession(at, "count is not a number of messages");
      return {};
    case "usage":
      if (!isObject(usage)) throw badSession(at, "usage is not an object");
      return {};
    default:
      throw badSession(at, `unknown type ${JSON.stringify(type)}`);
  }
}

/** Checks a list of names; none when it is absent. */
function checkFoundTools(value: unknown, source: string): readonly string[] {
  if (value === undefined) return [];
  if (isNameList(value)) return value;
  throw badSession(source, "foundTools is not a list of names");
}

/** Checks a list of calls that wait; none when it is absent. */
function checkPending(value: unknown, source: string): readonly WaitingCall[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw badSession(source, "pending is not a list");
  return value.map((call, index) => checkWaiting(call, `${source}, pending ${index + 1}`));
}

/** Checks one call that waits and freezes a copy. */
function checkWaiting(value: unknown, source: string): WaitingCall {
  if (!isWaitingCall(value)) throw badSession(source, "not a call that waits, with callId and step");
  return frozenJson(value);
}

/** A session whose fields are not checked yet. */
type GivenSession = { readonly [Field in keyof Session | "type"]?: unknown };

/** Checks format, version and system prompt. */
export function checkHeader(value: unknown, source: string): GivenSession {
  if (!isObject(value) || value.format !== sessionFormat) {
    throw badSession(source, `expected an object with "format": "${sessionFormat}"`);
  }
  if (value.version !== sessionVersion) {
    throw badSession(
      source,
      `this version reads format version ${sessionVersion}, not ${String(value.version)}; update toolcrib`,
    );
  }
  if (typeof value.systemPrompt !== "string") throw badSession(source, "systemPrompt is not a string");
  return value;
}

/** Checks the shape of one message and freezes a copy. */
function checkMessage(given: unknown, source: string): Message {
  const value = withBlocks(given);
  if (!isObject(value)) throw badSession(source, "expected an object");
  if (!isMessage(value)) throw badSession(source, "not a user, assistant or tool message of this format");
  return frozenJson(value);
}

function isMessage(value: object): value is Message {
  if (!isObject(value)) return false;
  const { role, content } = value;
  if (role === "user" || role === "assistant") return Array.isArray(content) && content.every(isBlock);
  const { callId, name, output, isError } = value;
  return (
    role === "tool" && [callId, name, output].every((text) => typeof text === "string") && typeof isError === "boolean"
  );
}

/** Returns whether it is a block that a user message may hold. */
export function isUserBlock(block: unknown): boolean {
  return isObject(block) && (block.type === "text" || block.type === "image") && isBlock(block);
}

function isBlock(block: unknown): boolean {
  if (!isObject(block)) return false;
  if (block.type === "image") return typeof block.data === "string" && typeof block.mimeType === "string";
  if (block.type === "tool-call") {
    return typeof block.id === "string" && typeof block.name === "string" && isObject(block.args);
  }
  return (block.type === "text" || block.type === "reasoning") && typeof block.text === "string";
}

/** Checks the opening and the changes of a session; neither where there is no opening. */
function checkAnnounced(
  { opening, changes = [] }: { readonly opening?: unknown; readonly changes?: unknown },
  at: string,
): { readonly opening?: Opening; readonly changes?: readonly ConversationChange[] } {
  if (opening === undefined) return {};
  if (!Array.isArray(changes)) throw badSession(at, "changes is not a list");
  const checked = changes.map((change): ConversationChange => {
    if (!isObject(change) || !Number.isSafeInteger(change.position)) throw badSession(at, "a change has no position");
    return { ...checkChange(change, at), position: Number(change.position) };
  });
  return { opening: checkOpening(opening, at), ...(checked.length > 0 && { changes: checked }) };
}

function checkOpening(value: unknown, at: string): Opening {
  const { systemPrompt, tools, deferredTools, ...rest } = isObject(value) ? value : {};
  if (typeof systemPrompt !== "string" || !isToolList(tools))
    throw badSession(at, "an opening has a systemPrompt and tools");
  if (deferredTools !== undefined && !isToolList(deferredTools))
    throw badSession(at, "deferredTools is not a list of tools");
  return frozenJson({ ...rest, systemPrompt, tools, ...(deferredTools && { deferredTools }) });
}

function checkChange(value: Record<string, unknown>, at: string): Omit<ConversationChange, "position"> {
  if (!isChange(value)) throw badSession(at, "a change has a systemPrompt, tools or names of tools");
  return frozenJson(value);
}

function isChange(
  value: Record<string, unknown>,
): value is Omit<ConversationChange, "position"> & Record<string, unknown> {
  const { systemPrompt, addedTools, deferredTools, removedTools, offeredTools } = value;
  return (
    [addedTools, deferredTools].every((tools) => tools === undefined || isToolList(tools)) &&
    [removedTools, offeredTools].every((names) => names === undefined || isNameList(names)) &&
    (systemPrompt === undefined || typeof systemPrompt === "string")
  );
}

function isToolList(value: unknown): value is readonly ChatTool[] {
  return (
    Array.isArray(value) &&
    value.every((tool) => isObject(tool) && isObject(tool.function) && typeof tool.function.name === "string")
  );
}

function isNameList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

export function badSession(source: string, problem: string, cause?: unknown): AgentError {
  return new AgentError({ code: "bad_session", message: `Cannot read the session ${source}: ${problem}.`, cause });
}
