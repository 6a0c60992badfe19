import type { Answer } from "../conversation/waiting.ts";
import type { Usage } from "../messages.ts";
import type { Prepared } from "./options.ts";
import type { TranscriptCall, TranscriptTurn } from "./transcript.ts";

/** A transcript as blocks in the order of reading, which Markdown and the page write each in their way. No text of it is markup. */
export type Part =
  /** Our own words about what follows. */
  | { readonly type: "note"; readonly text: string }
  | { readonly type: "heading"; readonly text: string }
  /** Words of a person or a model. `isQuoted`: they are not the answer. */
  | { readonly type: "words"; readonly text: string; readonly isQuoted: boolean }
  | { readonly type: "code"; readonly text: string; readonly language: "json" | "diff" | "" }
  | { readonly type: "call"; readonly title: string; readonly about: string; readonly parts: readonly Part[] };

/** Returns the facts about the whole transcript, a line each. */
export function factsOf({ transcript: { startedAt, models, usage } }: Prepared): string[] {
  return [
    ...(startedAt ? [`Started: ${describeTime(startedAt)}`] : []),
    ...(models.length > 0 ? [`Model: ${models.join(", ")}`] : []),
    ...(usage ? [`Used: ${describeUsage(usage)}`] : []),
  ];
}

export function partsOf(prepared: Prepared): Part[] {
  return prepared.transcript.turns.flatMap((turn, index) => [
    { type: "heading", text: `Turn ${index + 1}` } as const,
    ...turnParts(turn, prepared),
  ]);
}

function turnParts(turn: TranscriptTurn, { cut }: Prepared): Part[] {
  const parts: Part[] = [];
  const ms = durationOf(turn);
  const about = [
    ...(turn.startedAt ? [describeTime(turn.startedAt)] : []),
    ...(ms === undefined ? [] : [describeDuration(ms)]),
    ...(turn.usage ? [describeUsage(turn.usage)] : []),
  ];
  if (about.length > 0) parts.push({ type: "note", text: about.join(" · ") });
  for (const block of turn.user) {
    const text = block.type === "text" ? cut(block.text) : `(a picture, ${block.mimeType})`;
    parts.push({ type: "words", text, isQuoted: true });
  }
  for (const item of turn.items) {
    if (item.type === "call") parts.push(callPart(item, cut));
    else if (item.type === "note") parts.push(item);
    else {
      const isQuoted = item.type === "reasoning";
      if (isQuoted) parts.push({ type: "note", text: "Reasoning" });
      parts.push({ type: "words", text: cut(item.text), isQuoted });
    }
  }
  return parts;
}

function callPart(call: TranscriptCall, cut: Prepared["cut"]): Part {
  const ms = durationOf(call);
  const took = ms === undefined ? "" : ` (${describeDuration(ms)})`;
  const parts: Part[] = [{ type: "code", text: cut(JSON.stringify(call.args, null, 2)), language: "json" }];
  if (call.question !== undefined) {
    parts.push({ type: "note", text: `The user was asked; ${describeAnswer(call.answer) ?? "no answer yet"}:` });
    parts.push({ type: "words", text: call.question, isQuoted: true });
  }
  if (call.output !== undefined)
    parts.push({ type: "code", text: cut(call.output), language: isDiff(call.output) ? "diff" : "" });
  for (const block of call.content ?? [])
    if (block.type !== "text") parts.push({ type: "note", text: `(${block.type}, ${block.mimeType})` });
  const title = `${call.name}${call.isError ? ", failed" : ""}${took}`;
  return { type: "call", title, about: aboutCall(call), parts };
}

/** Says in words how a question was answered; undefined while it is not. */
function describeAnswer(answer: Answer | undefined): string | undefined {
  if (typeof answer === "object") return "args" in answer ? "allowed with other arguments" : "answered by the user";
  if (typeof answer === "string") return `denied: ${answer}`;
  return answer === undefined ? undefined : answer ? "allowed" : "denied";
}

/** Returns how long something took, in milliseconds; undefined where a time is missing. */
function durationOf({ startedAt, endedAt }: Pick<TranscriptTurn, "startedAt" | "endedAt">): number | undefined {
  const ms = Date.parse(endedAt ?? "") - Date.parse(startedAt ?? "");
  return ms >= 0 ? ms : undefined;
}

/** Writes `820 ms`, `3.4 s` or `2 min 5 s`. */
function describeDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  if (hours > 0) return `${hours} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Writes `1,200 tokens in (300 from the cache), 80 out, $0.0123`. */
function describeUsage({ inputTokens, cacheReadTokens, outputTokens, cost }: Usage): string {
  const count = (value: number): string => value.toLocaleString("en-US");
  const cached = cacheReadTokens > 0 ? ` (${count(cacheReadTokens)} from the cache)` : "";
  const dollars = cost === undefined ? "cost unknown" : `$${cost.toFixed(4)}`;
  return `${count(inputTokens)} tokens in${cached}, ${count(outputTokens)} out, ${dollars}`;
}

/** Writes `2026-11-22 14:30:45 UTC`; leaves what is no time as it is. */
function describeTime(time: string): string {
  return Number.isNaN(Date.parse(time)) ? time : `${new Date(time).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Describes a call in a line: its path, command, query or the first text among its arguments. */
function aboutCall({ args }: Pick<TranscriptCall, "args">): string {
  const known = ["command", "path", "source", "query", "pattern", "url", "id"].find(
    (key) => typeof args[key] === "string",
  );
  const found = known === undefined ? Object.values(args).find((value) => typeof value === "string") : args[known];
  return typeof found === "string" ? (found.split("\n", 1)[0] ?? "") : "";
}

/** Returns whether the text is a diff, by which Markdown says so. */
function isDiff(text: string): boolean {
  return /^(?:@@ .*@@|\*\*\* (?:Begin Patch|Update File: ))/m.test(text) && /^[+-]/m.test(text);
}
