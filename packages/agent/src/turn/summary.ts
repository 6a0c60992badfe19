import { userMessage } from "../conversation/conversation.ts";
import { memoize } from "../memoize.ts";
import type { Message, UserMessage } from "../messages.ts";
import { picturesOf, pictureTokens } from "../providers/models/pictures.ts";

/** A smaller saving is not worth a request for a summary. */
export const leastGain = 0.1;
const leastHead = 0.25;

/** Characters of a token, for messages that the service has not counted yet. */
export const charactersPerToken = 4;

/** Returns about how many tokens messages have. A picture counts by its size, as its bytes cost nothing. */
export function weightOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + weightOfOne(message), 0);
}

/** A conversation is weighed before each of its requests. */
const weightOfOne = memoize((message: Message) => textWeight(withoutPictures(message)) + pictureWeight(message));

export function textWeight(value: object): number {
  return JSON.stringify(value).length / charactersPerToken;
}

export function pictureWeight(message: Message): number {
  return picturesOf(message).reduce((tokens, picture) => tokens + pictureTokens(picture), 0);
}

/** Removes pictures. Of a result models read the output; its other blocks say the same. */
function withoutPictures(message: Message): object {
  if (message.role === "tool") return { ...message, content: undefined };
  return { ...message, content: [...message.content].filter(({ type }) => type !== "image") };
}

export const summaryRequest: string =
  "Sum up the conversation so far for yourself: the user's goals and constraints, what was done and found, with the names, " +
  "paths and numbers that matter, and what comes next. Only the summary goes on from here. Answer with the summary alone.";

/** The messages that a summary stands for, and those that go on word for word. */
interface Split {
  readonly head: readonly Message[];
  readonly request: UserMessage["content"];
  readonly isAnswered: boolean;
  /** The messages that the user has sent since the last step, but for the first of them. */
  readonly later: readonly Message[];
}

/** Returns the conversation up to the messages that the user has sent since the last step. Undefined where that is not worth a summary. */
export function splitForSummary(messages: readonly Message[]): Split | undefined {
  const end = messages.findLastIndex((message) => message.role !== "user") + 1;
  const head = messages.slice(0, end);
  const newest = requestOf(messages[end]);
  const request = newest.length > 0 ? newest : lastRequest(messages);
  const wordForWord = newest.length > 0 ? 0 : weightOf([userMessage(request)]);
  if (end === 0 || weightOf(head) - wordForWord < leastHead * weightOf(messages)) return undefined;
  const isAnswered = newest.length === 0 && messages.at(-1)?.role === "assistant";
  return { head, request, isAnswered, later: messages.slice(end + 1) };
}

const opening = "Summary of the conversation so far:";

/** Returns the summary that a message begins with, without the request behind it; undefined for every other message. */
export function summaryAlone(message: Message): UserMessage | undefined {
  if (message.role !== "user" || requestOf(message) === message.content) return undefined;
  return userMessage(message.content.slice(0, 1));
}

/** Returns the text of the summary that a message begins with; empty for every other message. */
export function summaryIn(message: Message | undefined): string {
  const [first] = (message && summaryAlone(message)?.content) ?? [];
  return first?.type === "text" ? first.text.slice(opening.length).trim() : "";
}

/** Returns the user's own words in the last message that has some. */
export function lastRequest(messages: readonly Message[]): UserMessage["content"] {
  return requestOf(messages.findLast((message) => message.role === "user" && requestOf(message).length > 0));
}

/** Returns the user's own words; of a message that begins with a summary, only what follows it. */
function requestOf(message: Message | undefined): UserMessage["content"] {
  if (message?.role !== "user") return [];
  const [first] = message.content;
  return first?.type === "text" && first.text.startsWith(opening) ? message.content.slice(2) : message.content;
}

/** Returns the one message with which a conversation begins anew: the summary, and the last request word for word. */
export function summarised(
  { request, isAnswered }: Pick<Split, "request" | "isAnswered">,
  summary: string,
): UserMessage {
  const label = isAnswered ? "My last message, which you have answered, was:" : "My last message was:";
  const words = request.length > 0 ? [{ type: "text", text: label } as const, ...request] : [];
  return userMessage([{ type: "text", text: `${opening}\n\n${summary}` }, ...words]);
}
