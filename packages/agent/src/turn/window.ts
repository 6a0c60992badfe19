import type { History } from "../conversation/history.ts";
import { memoize } from "../memoize.ts";
import type { Message } from "../messages.ts";
import type { Opening } from "../provider.ts";
import { picturesOf } from "../providers/models/pictures.ts";
import type { LoopState } from "./loopState.ts";
import { textWeight, weightOf } from "./summary.ts";

/** Numbers below this are no windows. */
const leastWindow = 100;
const count = String.raw`(?<!\d[,_]?)(\d[\d,_]{1,14}\d)(?![,_]{0,14}\d)(?! ?(?:bytes|characters|[kmg]i?b)\b)`;

/** The places of the window in refusals: `210000 tokens > 200000`, `should be [1, 30720]`, `maximum context length is 8192`, `32768 maximum`. */
const places = [
  `[<>]=? ?${count}`,
  String.raw`length should be \[\d+, ?${count}\]`,
  String.raw`(?:maximum|max|limit|less than|context (?:length|window|size)|allowed)(?:(?!\bby\b)[^\d\n]){1,60}${count}`,
  `${count}(?: tokens?)? max(?:imum)?\\b`,
].map((source) => new RegExp(source, "i"));

/** Returns the window that a service names in its refusal, in tokens. */
export function statedWindow(detail: string): number | undefined {
  const found = places.map((place) => Number(place.exec(detail)?.[1]?.replace(/[,_]/g, "")));
  return found.find((tokens) => tokens >= leastWindow);
}

/** Returns about how many tokens the next request of a conversation has: as the service has counted, unless it counts far less than there is. */
export function requestSize({ state: { messages, contextTokens, opening } }: History): number {
  const estimate = weightOf(messages) + weightOfOpening(opening);
  if (contextTokens === undefined) return estimate;
  const counted = contextTokens + weightOf(messages.slice(afterLastReply(messages)));
  return counted * 2 < estimate ? estimate : counted;
}

/** Returns the window of the model as far as it is known: what the service has said or shown, else what was given. */
export function windowOf({ window, compaction, history }: LoopState): number | undefined {
  const isShown = window && (window.isStated || acceptedSize(history) <= window.tokens);
  return isShown ? window.tokens : compaction?.contextWindow;
}

/** Returns whether messages make the next request too long: not if a larger one was taken, or the prompt and the tools alone are longer. */
export function isOverfull(history: History, window: number): boolean {
  const { contextTokens = 0, opening } = history.state;
  return requestSize(history) >= window && contextTokens <= window && weightOfOpening(opening) < window;
}

/** Takes the window from a refusal: the number in it, else the size that was accepted last, if the pictures are not the reason. */
export function learnWindow(state: LoopState, detail: string): void {
  const { history } = state;
  const tokens = statedWindow(detail);
  if (tokens !== undefined) state.window = { tokens, isStated: true };
  else if (!state.window?.isStated && history.messages.every((message) => picturesOf(message).length === 0))
    state.window = { tokens: Math.max(acceptedSize(history), requestSize(history) / 2), isStated: false };
}

/** Returns about how many tokens of a conversation the service has taken. */
function acceptedSize({ state: { messages, contextTokens, opening } }: History): number {
  return contextTokens ?? weightOf(messages.slice(0, afterLastReply(messages))) + weightOfOpening(opening);
}

function afterLastReply(messages: readonly Message[]): number {
  return messages.findLastIndex((message) => message.role === "assistant") + 1;
}

const openingWeight = memoize(({ systemPrompt, tools }: Opening) => textWeight({ systemPrompt, tools }));

function weightOfOpening(opening: Opening | undefined): number {
  return opening ? openingWeight(opening) : 0;
}
