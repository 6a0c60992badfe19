import type { ContentBlock } from "@toolcrib/core";
import type { Answer } from "../conversation/waiting.ts";
import type { ImageBlock, TextBlock, Usage } from "../messages.ts";

/** A session as people read it: everything that happened in it, also what the conversation no longer holds. Times are ISO 8601, UTC. */
export interface Transcript {
  readonly name?: string | undefined;
  readonly startedAt?: string | undefined;
  readonly systemPrompt: string;
  /** `provider/model` of the replies, in the order of their first. */
  readonly models: readonly string[];
  readonly turns: readonly TranscriptTurn[];
  readonly usage?: Usage | undefined;
}

/** A message of the user and what followed. Times are those of the journal; a journal of before they were written has none. */
export interface TranscriptTurn {
  readonly user: readonly (TextBlock | ImageBlock)[];
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  readonly items: readonly TranscriptItem[];
  /** Tokens and cost of its replies, where the service told. */
  readonly usage?: Usage | undefined;
}

export type TranscriptItem =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | TranscriptCall
  /** Something that happened to the conversation itself. */
  | { readonly type: "note"; readonly text: string };

/** A call of a tool and its result, if it has one. */
export interface TranscriptCall {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly output?: string | undefined;
  readonly isError?: boolean | undefined;
  readonly content?: readonly ContentBlock[] | undefined;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  /** The question that the user was asked about it. */
  readonly question?: string | undefined;
  readonly answer?: Answer | undefined;
}

/** Says in words how a question was answered; undefined while it is not. */
export function describeAnswer(answer: Answer | undefined): string | undefined {
  if (typeof answer === "object") return "args" in answer ? "allowed with other arguments" : "answered by the user";
  if (typeof answer === "string") return `denied: ${answer}`;
  return answer === undefined ? undefined : answer ? "allowed" : "denied";
}

/** Returns how long something took, in milliseconds; undefined where a time is missing. */
export function durationOf({
  startedAt,
  endedAt,
}: {
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
}): number | undefined {
  const ms = Date.parse(endedAt ?? "") - Date.parse(startedAt ?? "");
  return ms >= 0 ? ms : undefined;
}

/** Writes `820 ms`, `3.4 s` or `2 min 5 s`. */
export function describeDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  if (hours > 0) return `${hours} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Writes `1,200 tokens in (300 from the cache), 80 out, $0.0123`. */
export function describeUsage({ inputTokens, cacheReadTokens, outputTokens, cost }: Usage): string {
  const count = (value: number): string => value.toLocaleString("en-US");
  const cached = cacheReadTokens > 0 ? ` (${count(cacheReadTokens)} from the cache)` : "";
  const dollars = cost === undefined ? "cost unknown" : `$${cost.toFixed(4)}`;
  return `${count(inputTokens)} tokens in${cached}, ${count(outputTokens)} out, ${dollars}`;
}

/** Writes `2026-11-22 14:30:45 UTC`; leaves what is no time as it is. */
export function describeTime(time: string): string {
  return Number.isNaN(Date.parse(time)) ? time : `${new Date(time).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Describes a call in a line: its path, command, query or the first text among its arguments. */
export function aboutCall({ args }: Pick<TranscriptCall, "args">): string {
  const known = ["command", "path", "source", "query", "pattern", "url", "id"].find(
    (key) => typeof args[key] === "string",
  );
  const found = known === undefined ? Object.values(args).find((value) => typeof value === "string") : args[known];
  return typeof found === "string" ? (found.split("\n", 1)[0] ?? "") : "";
}

/** A piece of what was said: words, or a block of code. */
export interface Piece {
  readonly text: string;
  /** The language after the fence of a block of code; undefined for prose. */
  readonly language?: string | undefined;
}

const fencedBlock = /^ {0,3}```([^\n`]*)\n([\s\S]*?)(?:^ {0,3}```[ \t]*$|(?![\s\S]))/m;

/** Splits text into pieces of code and words, none of them empty. */
export function piecesOf(text: string): Piece[] {
  const parts = text.trim().split(fencedBlock);
  const pieces: Piece[] = [];
  for (let index = 0; index < parts.length; index += 3) {
    const words = (parts[index] ?? "").trim();
    if (words !== "") pieces.push({ text: words });
    const code = parts[index + 2];
    if (code !== undefined) pieces.push({ text: code.replace(/\n$/, ""), language: (parts[index + 1] ?? "").trim() });
  }
  return pieces;
}

/** Returns whether the text is a diff, by which Markdown says so. */
export function isDiff(text: string): boolean {
  return /^(?:@@ .*@@|\*\*\* (?:Begin Patch|Update File: ))/m.test(text) && /^[+-]/m.test(text);
}
