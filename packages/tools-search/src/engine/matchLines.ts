import { type WantedTrigrams, wantedTrigrams } from "../memory/signature.ts";
import type { Query } from "./job.ts";
import { escapeLiteral, requiredLiterals } from "./requiredLiterals.ts";

/** The source of lines: the bytes of a file, or its decoded text. Offsets are bytes or UTF-16 units accordingly. */
export type LineSource = Buffer | string;

/** One matching line: `start` to `end` without its line ending, `at` where the match begins. False ends the scan. */
export type OnMatch = (line: number, start: number, end: number, at: number) => boolean;

/** A compiled query: `bytes` for a search without decoding, else the expressions for a text. */
export interface Matcher {
  readonly bytes: Buffer | undefined;
  /** Returns false if the file cannot match; decided without decoding it. */
  couldMatch(file: Buffer): boolean;
  /** A file without these cannot match either; undefined where nothing is known. */
  readonly wanted: WantedTrigrams | undefined;
  /** For any text, and for one that is all ASCII. */
  readonly expressions: { readonly unicode: Expressions; readonly ascii: Expressions };
}

export interface Expressions {
  /** Finds candidate lines in a whole text; undefined where lines must be tested one by one. */
  readonly candidates: RegExp | undefined;
  /** Decides for one line. */
  readonly line: RegExp;
  /** True if a candidate that lies within a line needs no other decision. */
  readonly areSure: boolean;
  /** Longest line that may be matched; undefined for any. */
  readonly longest: number | undefined;
}

/**
 * Makes a matcher. `longest` limits a regular expression to lines up to that length, each matched alone. Throws a SyntaxError for
 * an invalid one.
 */
export function createMatcher(query: Query, longest?: number): Matcher {
  const bytes = query.regex || !query.caseSensitive ? undefined : Buffer.from(query.text);
  const required = query.regex ? (query.caseSensitive ? requiredLiterals(query.text) : undefined) : [query.text];
  const literals = query.caseSensitive ? required?.map((one) => Buffer.from(one)) : required && bothCases(query.text);
  const probes = literals?.map((literal) => ({ literal, probe: rarePart(literal) }));
  // A literal needs them for UTF-16 alone.
  let expressions = bytes === undefined ? compileExpressions(query, required, longest) : undefined;
  return {
    bytes,
    couldMatch(file) {
      if (probes === undefined) return true;
      for (const { literal, probe } of probes)
        if (file.indexOf(probe) !== -1 && (probe === literal || file.indexOf(literal) !== -1)) return true;
      return false;
    },
    wanted: required && wantedTrigrams(required, !query.caseSensitive),
    get expressions() {
      expressions ??= compileExpressions(query, required, longest);
      return expressions;
    },
  };
}

function compileExpressions(
  query: Query,
  required: string[] | undefined,
  longest: number | undefined,
): Matcher["expressions"] {
  const source = query.regex ? query.text : escapeLiteral(query.text);
  const line = compileLine(source, query.caseSensitive ? "" : "i");
  // Unicode mode is slower. In ASCII text an expression means the same without it, except for what this pattern finds.
  const plain = /\\[pPuk]|[^\u0000-\u007f]/.test(source) ? line : new RegExp(line.source, line.flags.replace("u", ""));
  const lineLimit = query.regex ? longest : undefined;
  const alone = lineLimit !== undefined || readsBeyondItsMatch(source);
  // Bounded whatever the text is, so it finds the lines that an expression is tried on.
  const found = alone && query.caseSensitive ? required?.map(escapeLiteral).join("|") : undefined;
  const literals = found === undefined ? undefined : new RegExp(found, "g");
  // With `m` these two match at a lone CR and at U+2028 too.
  const areSure = !alone && !/[$^]/.test(source.replace(tokens, "."));
  const expressionsOf = (decide: RegExp): Expressions => ({
    candidates: alone ? literals : new RegExp(decide.source, `${decide.flags}gm`),
    line: decide,
    areSure,
    longest: lineLimit,
  });
  return { unicode: expressionsOf(line), ascii: expressionsOf(plain) };
}

/** From the commonest byte of source code and prose to the rarest. */
const commonBytes = ' etaoinsrlcdpmufh_gb.yv0,1-k2x=w/()"34;*';
/** Node searches for up to this many bytes several times faster than for more. */
const probeLength = 7;

/** Returns the part of a literal that is quickest to look for: short, and beginning with a byte that is rare. */
function rarePart(literal: Buffer): Buffer {
  let best = 0;
  let bestRank = -1;
  for (let at = 0; at <= Math.max(0, literal.length - 3); at += 1) {
    const rank = rarity(String.fromCharCode(literal[at] ?? 0));
    if (rank > bestRank) {
      best = at;
      bestRank = rank;
    }
  }
  return literal.length <= 2 ? literal : literal.subarray(best, best + probeLength);
}

function rarity(char: string): number {
  const place = commonBytes.indexOf(char);
  return place === -1 ? commonBytes.length : place;
}

/**
 * Returns the rarest two neighbouring characters of a literal, in each combination of cases: a text without any of these does not hold
 * the literal in any case. Undefined if no pair can be used: letters beyond ASCII may equal `k`, `s` or others without case.
 */
function bothCases(literal: string): Buffer[] | undefined {
  let best: string | undefined;
  let bestRank = -1;
  for (const [, pair = ""] of literal.matchAll(/(?=([^ks\u0080-\uffff]{2}))/gi)) {
    const lower = pair.toLowerCase();
    const rank = rarity(lower.charAt(0)) + rarity(lower.charAt(1));
    if (rank > bestRank) [best, bestRank] = [lower, rank];
  }
  if (best === undefined) return undefined;
  const [first = "", second = ""] = best;
  const cases = (char: string): Set<string> => new Set([char, char.toUpperCase()]);
  return [...cases(first)].flatMap((one) => [...cases(second)].map((two) => Buffer.from(one + two)));
}

/** Compiles an expression whose `.` matches everything in a line: JavaScript's own stops at a lone CR and at U+2028. */
function compileLine(source: string, flags: string): RegExp {
  const dotted = source.replace(tokens, (token) => (token === "." ? "[^\\n]" : token));
  return new RegExp(dotted, `${flags}u`);
}

/** An escape, a character class or a dot. */
const tokens = /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\./g;

/**
 * Returns whether the text around a match can decide whether it is one (look-around, inline flags). Such an expression, run on a whole
 * text, may miss a line that it matches alone. Any other finds every line that it matches alone, and sometimes more.
 */
function readsBeyondItsMatch(source: string): boolean {
  return /\(\?(?!:|<[^=!])/.test(source.replace(tokens, "."));
}

const newline = 10;

/** Reports each line of `file` that holds `needle`. */
export function scanBytes(file: Buffer, needle: Buffer, onMatch: OnMatch): void {
  const count = createNewlineCounter(file);
  let line = 1;
  let counted = 0;
  for (let at = file.indexOf(needle); at !== -1; ) {
    line += count(counted, at);
    counted = at;
    const start = at === 0 ? 0 : file.lastIndexOf(newline, at - 1) + 1;
    const lineEnd = file.indexOf(newline, at);
    const next = lineEnd === -1 ? file.length : lineEnd;
    const end = next > at && file[next - 1] === 13 ? next - 1 : next;
    if (!onMatch(line, start, end, at)) return;
    if (lineEnd === -1) return;
    at = file.indexOf(needle, next);
  }
}

/** Reports each line of `text` that the expression matches in the line alone. Throws `longLine` at one that is too long for it. */
export function scanText(text: string, expressions: Expressions, onMatch: OnMatch): void {
  const { candidates, line: decide, areSure, longest } = expressions;
  let line = 1;
  /** The start of a line of that number. */
  let counted = 0;
  let start = 0;
  while (start < text.length) {
    let at = -1;
    let matchEnd = Infinity;
    if (candidates !== undefined) {
      candidates.lastIndex = start;
      const found = candidates.exec(text);
      // A match after the end of the last line is in no line.
      if (found === null || (found.index === text.length && text.endsWith("\n"))) return;
      at = found.index;
      matchEnd = areSure ? at + found[0].length : Infinity;
      if (at > start) start = Math.max(start, text.lastIndexOf("\n", at - 1) + 1);
    }
    const lineEnd = text.indexOf("\n", start);
    const next = lineEnd === -1 ? text.length : lineEnd;
    const end = text.charCodeAt(next - 1) === 13 && next > start ? next - 1 : next;
    if (longest !== undefined && end - start > longest)
      throw Object.assign(new Error("long line"), { code: "longLine" });
    if (matchEnd > end) {
      const match = decide.exec(text.slice(start, end));
      at = match === null ? -1 : start + match.index;
    }
    if (at !== -1) {
      for (let feed = text.indexOf("\n", counted); feed !== -1 && feed < start; feed = text.indexOf("\n", counted)) {
        line += 1;
        counted = feed + 1;
      }
      if (!onMatch(line, start, end, at)) return;
    }
    start = next + 1;
  }
}

/** Counts the line feeds in `bytes` from `from` up to `to`, four bytes at a time where they are aligned. */
export function createNewlineCounter(bytes: Buffer): (from: number, to: number) => number {
  const words =
    bytes.byteOffset % 4 === 0 ? new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2) : undefined;
  return (from, to) => {
    let count = 0;
    let at = from;
    if (words !== undefined && to - from > 16) {
      for (; at % 4 !== 0; at += 1) if (bytes[at] === 10) count += 1;
      const end = to >> 2;
      for (let i = at >> 2; i < end; ) {
        // Four counts side by side in one number, taken apart before any of them can overflow.
        const stop = Math.min(end, i + 255);
        let counts = 0;
        for (; i < stop; i += 1) {
          const differs = (words[i] as number) ^ 0x0a0a0a0a;
          const zeroBytes = ~(((differs & 0x7f7f7f7f) + 0x7f7f7f7f) | differs | 0x7f7f7f7f);
          counts = (counts + (zeroBytes >>> 7)) | 0;
        }
        count += (counts & 0xff) + ((counts >>> 8) & 0xff) + ((counts >>> 16) & 0xff) + (counts >>> 24);
      }
      at = end << 2;
    }
    for (; at < to; at += 1) if (bytes[at] === 10) count += 1;
    return count;
  };
}
