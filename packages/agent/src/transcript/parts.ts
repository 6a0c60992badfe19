import type { Prepared } from "./options.ts";
import {
  aboutCall,
  describeAnswer,
  describeDuration,
  describeTime,
  describeUsage,
  durationOf,
  isDiff,
  type TranscriptCall,
  type TranscriptTurn,
} from "./transcript.ts";

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
