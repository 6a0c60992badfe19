import { limitBytes } from "@toolcrib/core/text";
import { toolMessage } from "../conversation/conversation.ts";
import type { AssistantMessage, Message, ReasoningBlock, ToolMessage, UserMessage } from "../messages.ts";
import { charactersPerToken, lastRequest, pictureWeight, summarised, summaryIn, weightOf } from "./summary.ts";

/** A conversation within a size, and what was done to it. */
export interface Shortened {
  readonly messages: readonly Message[];
  /** The number of messages that were cut: results, and long texts. */
  readonly cutMessages: number;
  /** The number of messages that were left out. */
  readonly leftOut: number;
}

/** As long as older messages can be left out, no result is cut to less than this share of the target. */
const leastShare = 1 / 16;
/** The most that a text has of the target, unless it is the user's last message. */
const mostText = 1 / 4;
/** Characters of a cut result around its text. */
const resultFrame = 250;

/**
 * Returns the next smaller conversation, of at most `target` tokens where that is possible: first the largest results are cut, then long texts, then
 * the oldest messages left out. The user's last message stays as it is, and calls keep their results. Thinking behind the first change goes,
 * since services bind it to all that stands before; `isAnew`: the request begins in another way, so all thinking goes.
 */
export function shorten(messages: readonly Message[], target: number, isAnew = false): Shortened {
  const isMinimal = messages.length < 2 && summaryIn(messages[0]) === "";
  if (weightOf(messages) <= target || isMinimal) return { messages, cutMessages: 0, leftOut: 0 };
  const cut = withCuts(messages, target);
  const isCut = (message: Message, index: number): boolean => message !== messages[index];
  const rest = withoutThinkingFrom(cut, isAnew ? 0 : cut.findIndex(isCut));
  if (weightOf(rest) <= target) return { messages: rest, cutMessages: cut.filter(isCut).length, leftOut: 0 };
  const plain = withoutThinkingFrom(messages, 0);
  const before = new Set(plain);
  const newest = leaveOut(withCuts(plain, target), target);
  return { ...newest, cutMessages: newest.messages.slice(1).filter((message) => !before.has(message)).length };
}

/** Cuts the largest results; where that is not enough, also each text that has too large a share of the target. */
function withCuts(messages: readonly Message[], target: number): readonly Message[] {
  const results = withCutResults(messages, target, target * leastShare);
  if (weightOf(results) <= target) return results;
  const last = messages.findLastIndex(({ role }) => role === "user");
  const bytes = Math.floor(target * mostText * charactersPerToken);
  return results.map((message, index) =>
    message.role === "tool" || index === last ? message : withCutTexts(message, bytes),
  );
}

function withCutTexts(message: UserMessage | AssistantMessage, bytes: number): Message {
  let isCut = false;
  const content = message.content.map((block) => {
    if (block.type !== "text") return block;
    const text = limitBytes(block.text, bytes);
    if (text.length >= block.text.length) return block;
    isCut = true;
    return Object.freeze({ ...block, text });
  });
  return isCut ? (Object.freeze({ ...message, content: Object.freeze(content) }) as Message) : message;
}

/** Cuts the largest results, all to one size and none to less than `least` tokens, until the messages have the target. */
function withCutResults(messages: readonly Message[], target: number, least: number): readonly Message[] {
  let size = Math.max(0, ...messages.map((message) => (message.role === "tool" ? weightOf([message]) : 0)));
  let cut = messages;
  while (weightOf(cut) > target && size > least) {
    size = Math.max(least, size * 0.7);
    cut = messages.map((message) => (message.role === "tool" ? cutResult(message, size) : message));
  }
  return cut;
}

const earlierAdvice = /\n\[shortened to fit the model's context window(?:; pictures left out)?: [^\n]{1,200}\]$/;

/** Returns a result of at most about so many tokens, which says how to read the rest. */
function cutResult(result: ToolMessage, size: number): ToolMessage {
  if (weightOf([result]) <= size) return result;
  const pictures = pictureWeight(result);
  const keepsPictures = pictures <= size / 2;
  const room = (size - (keepsPictures ? pictures : 0)) * charactersPerToken - resultFrame;
  const text = limitBytes(result.output.replace(earlierAdvice, ""), Math.max(0, Math.floor(room)));
  const advice = `call ${result.name} for a smaller part if you need the rest`;
  const output = `${text}\n[shortened to fit the model's context window${keepsPictures ? "" : "; pictures left out"}: ${advice}]`;
  if (keepsPictures && output.length >= result.output.length) return result;
  const content = keepsPictures ? result.content?.filter(({ type }) => type === "image") : undefined;
  return toolMessage({ id: result.callId, name: result.name }, { output, isError: result.isError, content });
}

function withoutThinkingFrom(messages: readonly Message[], start: number): readonly Message[] {
  if (start < 0) return messages;
  return messages.flatMap((message, index) =>
    index < start || message.role !== "assistant" ? message : withoutThinking(message),
  );
}

/** Stands for thinking that was left out: no wire sends it, and OpenAI's mapping leaves out the ids that would ask for the thinking. */
const mark: ReasoningBlock = Object.freeze({
  type: "reasoning",
  text: "",
  opaque: Object.freeze({ provider: "toolcrib", data: "left out" }),
});

/** Returns a reply without its thinking; none where it has nothing else. */
function withoutThinking(reply: AssistantMessage): AssistantMessage[] {
  const said = reply.content.filter(({ type }) => type !== "reasoning");
  if (said.length === reply.content.length) return [reply];
  return said.length === 0 ? [] : [Object.freeze({ ...reply, content: Object.freeze([mark, ...said]) })];
}

type Rest = Omit<Shortened, "cutMessages">;

/** Leaves out the oldest messages; of the last step only if its results, cut as far as that goes, do not fit either. */
function leaveOut(messages: readonly Message[], target: number): Rest {
  const lastReply = messages.findLastIndex(({ role }) => role === "assistant");
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  // The first message has the longest note where most are left out. Measured once, since it may be long.
  const sizes = [lastUser, messages.length - 1].map((start) =>
    weightOf(restFrom(messages, start).messages.slice(0, 1)),
  );
  let kept = weightOf(messages);
  for (let start = 1; start < messages.length; start += 1) {
    kept -= weightOf(messages.slice(start - 1, start));
    if (messages[start]?.role === "tool") continue;
    const size = sizes[start > lastUser ? 1 : 0] ?? 0;
    if (size + kept <= target) return restFrom(messages, start);
    if (start !== lastReply) continue;
    const rest = restFrom(messages, start);
    const room = target - size;
    const cut = {
      ...rest,
      messages: [...rest.messages.slice(0, 1), ...withCutResults(messages.slice(start), room, 1)],
    };
    if (weightOf(cut.messages) <= target) return cut;
  }
  const isWords = messages.at(-1)?.role === "user" && messages.length > 1;
  const start = isWords ? messages.length - 1 : messages.length;
  const room = target - weightOf(restFrom(messages, start, 0).messages);
  return restFrom(messages, start, Math.max(0, Math.floor(room * charactersPerToken)));
}

const earlierNote = /\n*\[(\d+) earlier messages are left out: they do not fit in the model's context window\]$/;

/** Returns the messages from `start` on, behind one that has an earlier summary, at most so many bytes of it, and the user's last words. */
function restFrom(messages: readonly Message[], start: number, summaryBytes = Number.POSITIVE_INFINITY): Rest {
  const kept = messages.slice(start);
  const earlier = summaryIn(messages[0]);
  const whole = earlier.replace(earlierNote, "");
  const summary = summaryBytes === 0 ? "" : limitBytes(whole, summaryBytes);
  // A summary that is lost counts as the message it stands in; a note alone is none.
  const isLost = whole !== "" && summary === "";
  const leftOut = start - (earlier === "" || isLost ? 0 : 1);
  const all = leftOut + Number(earlierNote.exec(earlier)?.[1] ?? 0);
  const note = `[${all} earlier messages are left out: they do not fit in the model's context window]`;
  const text = [summary, all > 0 ? note : ""].filter((part) => part !== "").join("\n\n");
  const request = kept.some(({ role }) => role === "user") ? [] : lastRequest(messages);
  const isAnswered = kept.length === 0 && messages.at(-1)?.role === "assistant";
  return { messages: [summarised({ request, isAnswered }, text), ...kept], leftOut };
}
