import { oneLine } from "@toolcrib/core/internal";
import type { Session } from "../session/session.ts";
import { prepare, type TranscriptOptions } from "./options.ts";
import { factsOf, type Part, partsOf } from "./parts.ts";
import { piecesOf, type Transcript } from "./transcript.ts";

/** Returns a session as Markdown: what was said, calls and results as code. Throws a TypeError for invalid options. */
export function sessionToMarkdown(session: Transcript | Session, options: TranscriptOptions = {}): string {
  const prepared = prepare("sessionToMarkdown", session, options);
  const facts = factsOf(prepared).map((fact) => `- ${line(fact)}`);
  const blocks = [`# ${line(prepared.title)}`, facts.join("\n"), ...partsOf(prepared).map(block)];
  return `${blocks.filter((text) => text !== "").join("\n\n")}\n`;
}

function block(part: Part): string {
  switch (part.type) {
    case "heading":
      return `## ${part.text}`;
    case "note":
      return `*${line(part.text)}*`;
    case "words":
      return part.isQuoted ? quoted(safe(part.text)) : safe(part.text);
    case "code":
      return fenced(part.text, part.language);
    case "call":
      return [`### ${line(part.title)}`, ...part.parts.map(block)].join("\n\n");
  }
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

function line(words: string): string {
  return escaped(oneLine(words));
}

function escaped(words: string): string {
  // A backslash would not do: one that stands before it would make it a backslash of the text.
  return words.replace(/<(?=[A-Za-z/!?])/g, "&lt;");
}
