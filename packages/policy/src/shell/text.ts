/** Longer lines are not judged: nobody reads them either. */
export const longestLine = 10_000;

/** Anything that no keyboard types and no screen shows: controls, invisible and blank characters but the space, halves of a pair. */
const unseen = /[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Cs}\p{Cn}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;

const plain = /^[\t\n\x20-\x7e]*$/;

const allowed = new Set([" ", "\t", "\n"]);

/** Says why the characters of a line already make it unreadable. */
export function textProblem(line: string): string | undefined {
  if (line.length > longestLine) return `It is longer than ${longestLine.toLocaleString("en")} characters.`;
  if (plain.test(line)) return undefined;
  for (const [character] of line.matchAll(unseen)) {
    if (allowed.has(character)) continue;
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    return `It contains the invisible or control character U+${code}.`;
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

/** Returns whether a stretch is such a gap; one that goes on beyond its end is none. */
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

/** A stretch of a word outside quotes, or inside double quotes, as the shell reads it. */
interface BareText {
  readonly value: string;
  /** The reason why it is not read alike by all shells, or not as a word. */
  readonly problem?: string | undefined;
  /** True if it holds a file pattern. */
  readonly pattern: boolean;
}

/** Characters that end a word, or start another kind of part: none can stand in bare text unless escaped. */
const special = " \t\n;&|<>()'\"`";

/** Characters after `$` that start an expansion or another kind of quotes in some shell. */
const afterDollar = /[A-Za-z0-9_@*#?$!({['"\\`-]/;

const unread = "A word in it could not be read.";
const tilde = "It has a path from a home folder (~).";

/** Reads text outside quotes; `atStart` when the word starts with it, `rest` what follows it in the word. */
export function readBare(text: string, atStart: boolean, rest: string): BareText {
  const whole = text + rest;
  let value = "";
  let pattern = false;
  let problem: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "\\") {
      at += 1;
      if (at === text.length || text.charAt(at) === "\n") problem ??= "A word in it is continued on another line.";
      value += text.charAt(at);
      continue;
    }
    if (special.includes(character) || (character === "#" && atStart && at === 0)) problem ??= unread;
    else if (character === "*" || character === "?") pattern = true;
    else if (character === "[" && whole.includes("]", at)) pattern = true;
    else if (character === "$" && afterDollar.test(text.charAt(at + 1)))
      problem ??= "An expansion in it could not be read.";
    else if (character === "~" && ((at === 0 && atStart) || ":=".includes(text.charAt(at - 1) || " ")))
      problem ??= tilde;
    else if (character === "{" && isBraceList(whole, at))
      problem ??= "It has a list in braces, which sh and bash read differently.";
    value += character;
  }
  return { value, pattern, problem };
}

/** Recognises `{a,b}` and `{1..3}`; `{}` and `HEAD@{1}` are plain text in every shell. */
function isBraceList(text: string, at: number): boolean {
  return text.includes(",", at) || text.includes("..", at);
}

/** Reads text inside double quotes, or in a here-document without quotes. */
export function readQuoted(text: string, inDocument = false): BareText {
  let value = "";
  let problem: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    const next = text.charAt(at + 1);
    if (character === "\\" && next !== "" && (inDocument ? "$`\\\n" : '$`"\\\n').includes(next)) {
      if (next === "\n") problem ??= "A word in it is continued on another line.";
      value += next;
      at += 1;
      continue;
    }
    // A closing quote makes `$'` and `$"` plain text here.
    const opens = character === "$" && next !== "'" && next !== '"' && next !== "\\" && afterDollar.test(next);
    if (character === "`" || opens || (character === '"' && !inDocument))
      problem ??= "An expansion in it could not be read.";
    value += character;
  }
  return { value, pattern: false, problem };
}

const escapes: Readonly<Record<string, string>> = {
  ...{ a: "\x07", b: "\b", e: "\x1b", E: "\x1b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" },
  ...{ "\\": "\\", "'": "'", '"': '"', "?": "?" },
};

/** Reads a whole `$'…'`; undefined if it has an escape that is not sure: one of a control key, of no ASCII character, or unknown. */
export function readDollarQuoted(text: string): string | undefined {
  let value = "";
  let at = 2;
  for (; at < text.length - 1; at += 1) {
    const character = text.charAt(at);
    if (character === "'") return undefined;
    if (character !== "\\") {
      value += character;
      continue;
    }
    const code = /^(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3}))/.exec(text.slice(at + 1, at + 4));
    const number = Number.parseInt(code?.[1] ?? code?.[2] ?? "", code?.[1] === undefined ? 8 : 16);
    const read =
      code === null ? escapes[text.charAt(at + 1)] : number > 0 && number < 128 && String.fromCharCode(number);
    if (!read) return undefined;
    value += read;
    at += code?.[0].length ?? 1;
  }
  return at === text.length - 1 && text.startsWith("$'") && text.endsWith("'") ? value : undefined;
}
