import { invalidArgument } from "@toolcrib/core";
import { dominantLineEnding } from "@toolcrib/core/text";

export interface Edit {
  old_text: string;
  new_text: string;
  replace_all?: boolean | undefined;
}

/**
 * Applies the edits in order, each to the result of the one before. LF and CRLF match each other; new text gets the line ending
 * of the text around it. Throws (`invalid_arguments`) with the number of matches unless an edit matches exactly once.
 */
export function replaceText(text: string, edits: readonly Edit[]): string {
  let result = text;
  for (const [index, edit] of edits.entries()) result = replaceOne(result, edit, `edits[${index}].old_text`);
  if (result === text)
    throw invalidArgument("edits", "change nothing: the new text equals the old; give another new_text");
  return result;
}

interface Match {
  start: number;
  end: number;
}

function replaceOne(text: string, { old_text, new_text, replace_all = false }: Edit, field: string): string {
  if (old_text === "") throw invalidArgument(field, "must not be empty; give the exact text to replace");
  const matches = findMatches(text, old_text, !replace_all);
  if (matches.length === 0) {
    throw invalidArgument(field, "was not found (0 matches); give the exact text, with its spaces and line breaks");
  }
  if (matches.length > 1 && !replace_all) {
    throw invalidArgument(field, `has ${matches.length} matches; add surrounding lines, or pass replace_all=true`);
  }
  const usual = text.includes("\n") ? dominantLineEnding(text) : undefined;
  const parts: string[] = [];
  let done = 0;
  for (const { start, end } of matches) {
    const old = text.slice(start, end);
    parts.push(text.slice(done, start), withLineEnding(new_text, old.includes("\n") ? dominantLineEnding(old) : usual));
    done = end;
  }
  parts.push(text.slice(done));
  return parts.join("");
}

function withLineEnding(text: string, ending: "\n" | "\r\n" | undefined): string {
  return ending === undefined ? text : text.replace(/\r?\n/g, () => ending);
}

/** Every match of `wanted`, with LF or CRLF; overlapping ones only if asked for. */
function findMatches(text: string, wanted: string, overlapping: boolean): Match[] {
  const lines = wanted.split(/\r?\n/);
  const first = lines[0] as string;
  // A text that starts with a line break is found by that break.
  const anchor = first === "" && lines.length > 1 ? "\n" : first;
  const matches: Match[] = [];
  for (let at = text.indexOf(anchor); at >= 0; ) {
    const start = anchor === "\n" && text[at - 1] === "\r" ? at - 1 : at;
    const end = matchAt(text, start, lines);
    if (end !== undefined) matches.push({ start, end });
    at = text.indexOf(anchor, end !== undefined && !overlapping ? Math.max(end, at + 1) : at + 1);
  }
  return matches;
}

function matchAt(text: string, start: number, lines: readonly string[]): number | undefined {
  let at = start;
  for (const [index, line] of lines.entries()) {
    if (index > 0) {
      if (text.startsWith("\r\n", at)) at += 2;
      else if (text[at] === "\n") at += 1;
      else return undefined;
    }
    if (!text.startsWith(line, at)) return undefined;
    at += line.length;
  }
  return at;
}
