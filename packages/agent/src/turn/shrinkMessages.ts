import { userMessage } from "../conversation/conversation.ts";
import type { Message, ToolMessage } from "../messages.ts";

/** When and how a long conversation is shortened. Shares are of the context window. */
export interface CompactionOptions {
  /** Tokens that the model can take. */
  readonly contextWindow: number;
  /** Compaction starts once the service reports a context of this share. Default 0.8. */
  readonly startAt?: number | undefined;
  /** The share to reach. Default 0.5. */
  readonly target?: number | undefined;
  /** The newest tool results, which are never cleared. Default 5. */
  readonly keepResults?: number | undefined;
}

/** A smaller saving is not worth losing the prompt cache, nor a request for a summary. */
export const leastGain = 0.1;
const leastHead = 0.25;
const shortOutput = 200;
const clearedMark = "[cleared to save room: ";

/** A rough size; only its ratio to that of other messages matters. */
function weightOf(message: Message): number {
  return JSON.stringify(message).length;
}

export function totalWeight(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + weightOf(message), 0);
}

/**
 * The conversation with its oldest long tool results cleared, until `weight` is freed or none is left. Undefined when that
 * would free too little.
 */
export function clearOldResults(
  messages: readonly Message[],
  weight: number,
  keepResults: number,
): { readonly messages: readonly Message[]; readonly cleared: number; readonly freed: number } | undefined {
  const results = messages.filter((message) => message.role === "tool");
  const kept = new Set(results.slice(results.length - keepResults));
  let cleared = 0;
  let freed = 0;
  const smaller = messages.map((message) => {
    if (freed >= weight || message.role !== "tool" || kept.has(message) || !isLong(message)) return message;
    const short = clearedResult(message);
    cleared += 1;
    freed += weightOf(message) - weightOf(short);
    return short;
  });
  return cleared === 0 || freed < leastGain * totalWeight(messages) ? undefined : { messages: smaller, cleared, freed };
}

function isLong({ output, content }: ToolMessage): boolean {
  return output.length > shortOutput || content !== undefined;
}

function clearedResult({ content: _, ...message }: ToolMessage): ToolMessage {
  return Object.freeze({ ...message, output: `${clearedMark}${message.output.length} characters]` });
}

/**
 * Where to cut for a summary: the first place where what follows weighs at most `weight`, never between a call and its
 * result. Undefined when the part before is not worth a summary.
 */
export function summaryCut(messages: readonly Message[], weight: number): number | undefined {
  const total = totalWeight(messages);
  let rest = total;
  for (const [index, message] of messages.entries()) {
    if (message.role !== "tool" && rest <= weight) return total - rest < leastHead * total ? undefined : index;
    rest -= weightOf(message);
  }
  // The last step alone is too heavy, but what came before it can still be summarised.
  const last = messages.findLastIndex((message) => message.role !== "tool");
  return last > 0 && totalWeight(messages.slice(0, last)) >= leastHead * total ? last : undefined;
}

export const summaryRequest: string =
  "Sum up the conversation so far for yourself: the user's goals and constraints, what was done and found, with the names, " +
  "paths and numbers that matter, what is still to do. Only the summary goes on from here. Answer with the summary alone.";

/** The conversation after a summary: a user message holds the summary and, word for word, the last request. */
export function summarised(messages: readonly Message[], cut: number, summary: string): readonly Message[] {
  const lastUser = messages.findLastIndex((message) => message.role === "user");
  const request = messages[lastUser];
  const opening = { type: "text", text: `Summary of the conversation so far:\n\n${summary}` } as const;
  if (request?.role !== "user" || lastUser >= cut) return [userMessage([opening]), ...messages.slice(cut)];
  const label = { type: "text", text: "My last message was:" } as const;
  return [userMessage([opening, label, ...request.content]), ...messages.slice(cut)];
}
