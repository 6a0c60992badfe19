import { isObject } from "@toolcrib/core/text";
import { frozenJson } from "../conversation/frozenJson.ts";
import { repairConversation } from "../conversation/repair.ts";
import { type Fits, isText, listOf, maybe, objectWith, oneOfKinds } from "../conversation/shapes.ts";
import type { ConversationLine, ConversationState } from "../conversation/state.ts";
import { isAnswer, isWaiting, isWaitingCall, stillWaiting, type WaitingCall } from "../conversation/waiting.ts";
import { AgentError } from "../errors.ts";
import type { AssistantMessage, Message, UserMessage } from "../messages.ts";
import type { ConversationChange, Opening } from "../provider.ts";
import { type Session, sessionFormat, sessionVersion, withBlocks } from "./session.ts";

/** Checks a session that was read or passed in; throws `bad_session` with `source` in its message. */
export function checkSession(value: unknown, source: string): Session {
  const { messages: given, pending: saved, foundTools: names, opening, changes, ...rest } = checkHeader(value, source);
  const { messages: whole, ...kept } = checkContent({ messages: given, pending: saved, foundTools: names }, source);
  const messages = repairConversation(whole);
  // Without it the next request opens anew: a change would stand elsewhere.
  const announced = messages.length === whole.length ? checkAnnounced({ opening, changes }, source) : {};
  const pending = stillWaiting(messages, kept.pending);
  const foundTools = kept.foundTools.length > 0 && { foundTools: kept.foundTools };
  return { ...(rest as Session), messages, ...(pending.length > 0 && { pending }), ...foundTools, ...announced };
}

/** Checks a line of a journal after its header, and freezes copies of what joins the conversation. Throws `bad_session`. */
export function checkLine(line: unknown, at: string, state: AnsweredState): ConversationLine {
  if (!isObject(line))
    throw badSession(at, "it is not a JSON object; restore the file from a copy, or delete this line and all after it");
  return { ...line, ...checkedFields(line, at, state) } as unknown as ConversationLine;
}

type AnsweredState = Pick<ConversationState, "waiting" | "recorded">;

function checkedFields(line: Record<string, unknown>, at: string, { waiting, recorded }: AnsweredState): object {
  const { type, message, usage, pending, callId, callIds, lines, answers, count } = line;
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
      if (!isText(callId)) throw badSession(at, "lines within a call have its callId");
      return { lines: checked(lines, listOf(isObject), at, "lines within a call are objects") };
    case "messages":
      return { ...checkContent(line, at), ...checkAnnounced(line, at) };
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
  if (!isText(value.systemPrompt)) throw badSession(source, "systemPrompt is not a string");
  return value;
}

/** Checks the messages, and what is kept beside them; an absent list is empty. */
function checkContent({ messages, pending = [], foundTools = [] }: GivenSession, at: string) {
  return {
    messages: listIn(messages, "messages", at).map((one, index) => checkMessage(one, `${at}, message ${index + 1}`)),
    pending: listIn(pending, "pending", at).map((one, index) => checkWaiting(one, `${at}, pending ${index + 1}`)),
    foundTools: checked<readonly string[]>(foundTools, isNames, at, "foundTools is not a list of names"),
  };
}

/** Checks the opening and the changes of a session; neither where there is no opening. */
function checkAnnounced(
  { opening, changes = [] }: GivenSession,
  at: string,
): { readonly opening?: Opening; readonly changes?: readonly ConversationChange[] } {
  if (opening === undefined) return {};
  const checkedChanges = listIn(changes, "changes", at).map((change): ConversationChange => {
    if (!isObject(change) || !Number.isSafeInteger(change.position)) throw badSession(at, "a change has no position");
    return checkChange(change, at);
  });
  return { opening: checkOpening(opening, at), ...(checkedChanges.length > 0 && { changes: checkedChanges }) };
}

const isNames = listOf(isText);
const isTools = listOf(objectWith({ function: objectWith({ name: isText }) }));
const isOpening = objectWith<Opening>({ systemPrompt: isText, tools: isTools, deferredTools: maybe(isTools) });
const isChange = objectWith<Omit<ConversationChange, "position">>({
  systemPrompt: maybe(isText),
  addedTools: maybe(isTools),
  deferredTools: maybe(isTools),
  removedTools: maybe(isNames),
  offeredTools: maybe(isNames),
});

function checkOpening(value: unknown, at: string): Opening {
  return checked(value, isOpening, at, "an opening has a systemPrompt and lists of tools");
}

function checkChange(value: unknown, at: string): ConversationChange {
  return checked(value, isChange, at, "a change has a systemPrompt, tools or names of tools");
}

function checkWaiting(value: unknown, at: string): WaitingCall {
  return checked(value, isWaitingCall, at, "not a call that waits, with callId and step");
}

const userBlocks = {
  text: objectWith({ text: isText }),
  image: objectWith({ data: isText, mimeType: isText }),
};

/** Returns whether it is a block that a user message may hold. */
export const isUserBlock: Fits = oneOfKinds("type", userBlocks);

const isBlock = oneOfKinds("type", {
  ...userBlocks,
  reasoning: userBlocks.text,
  "tool-call": objectWith({ id: isText, name: isText, args: isObject }),
});
const withContent = objectWith<Pick<UserMessage | AssistantMessage, "content">>({ content: listOf(isBlock) });
const isMessage = oneOfKinds("role", {
  user: withContent,
  assistant: withContent,
  tool: objectWith({
    callId: isText,
    name: isText,
    output: isText,
    isError: (value) => typeof value === "boolean",
  }),
});

function checkMessage(given: unknown, at: string): Message {
  return checked(withBlocks(given), isMessage, at, "not a user, assistant or tool message of this format");
}

function listIn(value: unknown, name: string, at: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw badSession(at, `${name} is not a list`);
}

function checked<T>(value: unknown, fits: Fits, at: string, problem: string): T {
  if (!fits(value)) throw badSession(at, problem);
  return frozenJson(value as T);
}

export function badSession(source: string, problem: string, cause?: unknown): AgentError {
  return new AgentError({ code: "bad_session", message: `Cannot read the session ${source}: ${problem}.`, cause });
}
