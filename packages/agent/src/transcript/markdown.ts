import { oneLine } from "@toolcrib/core/internal";
import type { Session } from "../session/session.ts";
import { prepare, type TranscriptOptions } from "./options.ts";
import { factsOf, type Part, partsOf } from "./parts.ts";
import type { Transcript } from "./transcript.ts";

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
      return part.isQuoted ? safe(part.text).trimEnd().replace(/^/gm, "> ") : safe(part.text);
    case "code":
      return fenced(part.text, part.language);
    case "call":
      return [`### ${line(part.title)}`, ...part.parts.map(block)].join("\n\n");
  }
}

function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
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

/** A piece of what was said: words, or a block of code. */
interface Piece {
  readonly text: string;
  /** The language after the fence of a block of code; undefined for prose. */
  readonly language?: string | undefined;
}

const fencedBlock = /^ {0,3}```([^\n`]*)\n([\s\S]*?)(?:^ {0,3}```[ \t]*$|(?![\s\S]))/m;

/** Splits text into pieces of code and words, none of them empty. */
function piecesOf(text: string): Piece[] {
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
