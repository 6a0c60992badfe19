import { oneLine } from "@toolcrib/core/internal";
import { withoutControls } from "@toolcrib/core/text";
import type { Session } from "../session/session.ts";
import { type Prepared, prepare, type TranscriptOptions } from "./options.ts";
import {
  describeAnswer,
  describeDuration,
  describeTime,
  describeUsage,
  durationOf,
  isDiff,
  piecesOf,
  type Transcript,
  type TranscriptCall,
  type TranscriptTurn,
} from "./transcript.ts";

/** Returns a session as Markdown: what was said, calls and results as code. Throws a TypeError for invalid options. */
export function sessionToMarkdown(session: Transcript | Session, options: TranscriptOptions = {}): string {
  const prepared = prepare("sessionToMarkdown", session, options);
  const { transcript, title } = prepared;
  const about = [
    transcript.startedAt && `Started: ${describeTime(transcript.startedAt)}`,
    transcript.models.length > 0 && `Model: ${escaped(oneLine(transcript.models.join(", ")))}`,
    transcript.usage && `Used: ${describeUsage(transcript.usage)}`,
  ].filter(Boolean);
  const turns = transcript.turns.map((turn, index) => turnParts(turn, index + 1, prepared).join("\n\n"));
  // It may be printed on a terminal.
  return withoutControls(
    `${[`# ${escaped(oneLine(title))}`, about.map((line) => `- ${line}`).join("\n"), ...turns].filter(Boolean).join("\n\n")}\n`,
  );
}

function turnParts(turn: TranscriptTurn, number: number, prepared: Prepared): string[] {
  const parts: string[] = [];
  const ms = durationOf(turn);
  const about = [
    turn.startedAt && describeTime(turn.startedAt),
    ms !== undefined && describeDuration(ms),
    turn.usage && describeUsage(turn.usage),
  ].filter(Boolean);
  parts.push(`## Turn ${number}`);
  if (about.length > 0) parts.push(`*${about.join(" · ")}*`);
  for (const block of turn.user)
    parts.push(
      block.type === "text"
        ? quoted(safe(prepared.cut(block.text)))
        : `> ${escaped(oneLine(`(a picture, ${block.mimeType})`))}`,
    );
  for (const item of turn.items) {
    if (item.type === "text") parts.push(safe(prepared.cut(item.text)));
    else if (item.type === "reasoning") parts.push(`*Reasoning*\n\n${quoted(safe(prepared.cut(item.text)))}`);
    else if (item.type === "note") parts.push(`*${item.text}*`);
    else parts.push(...callParts(item, prepared));
  }
  return parts;
}

function callParts(call: TranscriptCall, { cut }: Prepared): string[] {
  const ms = durationOf(call);
  const took = ms === undefined ? "" : ` (${describeDuration(ms)})`;
  const parts = [`### ${escaped(oneLine(call.name))}${call.isError ? ", failed" : ""}${took}`];
  parts.push(fenced(cut(JSON.stringify(call.args, null, 2)), "json"));
  if (call.question !== undefined) {
    const words = describeAnswer(call.answer) ?? "asked";
    parts.push(`*The user was asked; ${escaped(oneLine(words))}:*`, quoted(safe(call.question)));
  }
  if (call.output !== undefined) parts.push(fenced(cut(call.output), isDiff(call.output) ? "diff" : ""));
  for (const block of call.content ?? [])
    if (block.type !== "text") parts.push(escaped(oneLine(`(${block.type}, ${block.mimeType})`)));
  return parts;
}

/** Returns a fence longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

function quoted(text: string): string {
  return text.trimEnd().replace(/^/gm, "> ");
}

/** Escapes text so that no HTML begins outside of code: a reader may show it as a page. */
function safe(text: string): string {
  const pieces = piecesOf(text).map(({ text: words, language }) =>
    // A fence within words would swallow what follows.
    language === undefined
      ? escaped(words).replace(/`{3,}|~{3,}/g, "\\$&")
      : fenced(words, language.replace(/[^\w+#-]/g, "")),
  );
  return pieces.join("\n\n");
}

function escaped(words: string): string {
  return words.replace(/<(?=[A-Za-z/!?])/g, "\\<");
}
