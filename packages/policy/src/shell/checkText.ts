/** Longer lines are not judged: nobody reads them either. */
export const longestLine = 10_000;

/** Anything that no keyboard types and no screen shows: controls, invisible and blank characters but the space, halves of a pair. */
const unseen = /[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Cs}\p{Cn}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;

const plain = /^[\t\n\x20-\x7e]*$/;

const allowed = new Set([" ", "\t", "\n"]);

/** Why the characters of a line already make it unreadable. */
export function textProblem(line: string): string | undefined {
  if (line.length > longestLine) return `It is longer than ${longestLine.toLocaleString("en")} characters.`;
  if (plain.test(line)) return undefined;
  for (const [character] of line.matchAll(unseen)) {
    if (allowed.has(character)) continue;
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    return `It holds the invisible or control character U+${code}.`;
  }
  return undefined;
}

/** A stretch of the line that was read: a word, an assignment, a redirection, the body of a here-document. */
export interface Span {
  readonly pos: number;
  readonly end: number;
}

const keywords = new Set("if then elif else fi for in do done while until case esac time".split(" "));

const operators = " \t\n;&|";

/** Characters that end a word; brackets are spans of their own. */
const separators = `${operators}()`;

/**
 * Returns whether all that stands between the spans of a stretch of the line is blanks, operators, keywords and comments. It guards against a
 * parser that leaves out a part of the line which the shell runs.
 */
export function onlyGaps(line: string, from: number, to: number, spans: Span[]): boolean {
  let at = from;
  for (const { pos, end } of spans.sort((a, b) => a.pos - b.pos)) {
    if (end < pos || !isGap(line, from, at, pos, to)) return false;
    at = end;
  }
  return isGap(line, from, at, to, to);
}

/** A gap that goes on beyond its end is none. */
function isGap(line: string, from: number, start: number, end: number, to: number): boolean {
  let at = start;
  const startsWord = (): boolean => at === from || separators.includes(line.charAt(at - 1));
  while (at < end) {
    const character = line.charAt(at);
    if (operators.includes(character)) at += 1;
    else if (!startsWord()) return false;
    else if (character === "#") {
      const newline = line.indexOf("\n", at);
      at = newline === -1 ? to : newline;
    } else if (character === "\\" && line.charAt(at + 1) === "\n") at += 2;
    else {
      let stop = at;
      while (stop < to && !separators.includes(line.charAt(stop))) stop += 1;
      if (!keywords.has(line.slice(at, stop))) return false;
      at = stop;
    }
  }
  return at === end;
}
