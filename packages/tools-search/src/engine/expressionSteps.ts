import { requiredLiterals } from "./requiredLiterals.ts";

/** Longest line that an expression is tried on by the caller's thread while another could do it. */
const longestQuickLine = 2000;
/** Steps that it may take there on one line, some milliseconds, and on those of a block of bytes. */
export const quickSteps = 4_000_000;
const quickStepsOfBlock = 20_000_000;
const blockSize = 2 ** 16;
const newline = 10;

/** The steps of an expression on one line, which are bounded. */
export interface ExpressionSteps {
  /** The text that every match begins with; empty if there is none. */
  readonly prefix: Buffer;
  /** A text that a line must hold to match, if one is known. */
  readonly literal: Buffer | undefined;
  /** Returns how many steps it takes at most on a line of `length` in which a match can begin in so many places. */
  on(length: number, starts?: number): number;
}

/** The ways through a part from one place, and the steps that they take together, on a line of `length`. */
interface Effort {
  ways: number;
  steps: number;
}

/** An atom of one character, a place between two, or a group. */
interface Part {
  /** Undefined for a group, its source for anything else. */
  readonly atom: string | undefined;
  readonly alternatives: readonly Part[][];
  readonly least: number;
  readonly most: number;
  /** For a repetition of which only the greatest length can go on: the steps after which each other fails. */
  behind?: number | undefined;
}

const tokens =
  /(\\u\{[^}]*\}|\\u.{4}|\\x..|\\c.|\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?:|\?<(?![=!])[^>]*>|(?!\?))|[^([])(?:([*+?]|\{(\d+)(?:(,)(\d*))?\})\??)?/suy;
const isPlace = /^(?:\^|\$|\\[bB])$/;
/** A counted step takes so many times as long. */
const countedFactor = 8;
/** A longer expression takes long to analyse. */
const longestAnalysed = 300;

/**
 * Bounds the steps of an expression, counting each way through each of its parts: those of a repetition are as many as the line is long,
 * unless what follows it cannot stand within it. Undefined for one that may take exponentially many (a group that is repeated), or that is
 * not analysed (a reference back, a look-around).
 */
export function expressionSteps(source: string, caseSensitive: boolean): ExpressionSteps | undefined {
  const alternatives = source.length > longestAnalysed ? undefined : readParts(source);
  if (alternatives === undefined) return undefined;
  findEnds(alternatives, createDisjointness(caseSensitive ? "u" : "iu"));
  const [only = []] = alternatives.length === 1 ? alternatives : [];
  const prefix = caseSensitive && alternatives.length === 1 ? prefixOf(source) : "";
  const literals = caseSensitive ? requiredLiterals(source) : undefined;
  const known = new Map<number, number>();
  const stepsOf = (length: number): number => {
    const steps = known.get(length) ?? effortOf(alternatives, length).steps;
    known.set(length, steps);
    return steps;
  };
  return {
    prefix: Buffer.from(prefix),
    literal: literals?.length === 1 ? Buffer.from(literals[0] ?? "") : undefined,
    on(length, starts = only[0]?.atom === "^" ? 1 : length + 1) {
      return starts * stepsOf(length) + (length + 1) * (prefix.length + 1);
    },
  };
}

/** Reads an expression into its alternatives; undefined for one that is not bounded. */
function readParts(source: string): Part[][] | undefined {
  const open: Part[][][] = [[[]]];
  tokens.lastIndex = 0;
  for (let at = 0; at < source.length; at = tokens.lastIndex) {
    const [, atom = "", quantifier, low, comma, high] = tokens.exec(source) ?? [];
    const current = open.at(-1);
    if (atom === "" || current === undefined || /^\\[1-9k]/.test(atom)) return undefined;
    if (atom.startsWith("(")) {
      open.push([[]]);
      if (quantifier !== undefined) return undefined;
      continue;
    }
    if (atom === "|") {
      current.push([]);
      continue;
    }
    const least = quantifier === undefined || quantifier === "+" ? 1 : Number(low ?? 0);
    const most =
      quantifier === undefined || quantifier === "?"
        ? 1
        : low === undefined || comma
          ? Number(high || Infinity)
          : least;
    const isGroup = atom === ")";
    if (isGroup) open.pop();
    const outer = open.at(-1)?.at(-1);
    if (outer === undefined || ((isGroup || isPlace.test(atom)) && most > 1)) return undefined;
    outer.push({ atom: isGroup ? undefined : atom, alternatives: isGroup ? current : [], least, most });
  }
  return open.length === 1 ? open[0] : undefined;
}

function effortOf(alternatives: readonly Part[][], length: number): Effort {
  const all = { ways: 0, steps: 0 };
  for (const parts of alternatives) {
    let ways = 1;
    let steps = 1;
    for (const part of parts) {
      const own = effortOfPart(part, length);
      steps += ways * own.steps;
      ways *= own.ways;
    }
    all.ways += ways;
    all.steps += steps;
  }
  return all;
}

function effortOfPart({ atom, alternatives, least, most, behind }: Part, length: number): Effort {
  if (atom === undefined) {
    const inner = effortOf(alternatives, length);
    return { ways: inner.ways + Number(least === 0), steps: inner.steps + 1 };
  }
  const longest = Math.min(most, length);
  const ways = Math.max(1, longest - least + 1);
  const steps = (longest + 1) * (most > 1 && most < Infinity ? countedFactor : 1);
  return behind === undefined ? { ways, steps } : { ways: 1, steps: steps + ways * behind };
}

/** Finds the repetitions that the parts behind them end: none of those can begin within it, and the last of them must be there. */
function findEnds(alternatives: readonly Part[][], isDisjoint: Disjointness): void {
  for (const parts of alternatives) {
    for (const [at, part] of parts.entries()) {
      findEnds(part.alternatives, isDisjoint);
      const { atom } = part;
      if (atom === undefined || part.least === part.most) continue;
      for (const [index, next] of parts.slice(at + 1).entries()) {
        if (next.atom === undefined || !isDisjoint(atom, next.atom)) break;
        if (next.least === 0) continue;
        part.behind = index + 1;
        break;
      }
    }
  }
}

/** Returns whether a regular expression could take long on one of the lines that may match it, or on all of them. */
export function takesLong(bytes: Buffer, { literal, prefix, on }: ExpressionSteps): boolean {
  // A character takes the more steps the longer its line is, so no lines up to this length take more together than the longest.
  const isLight = on(longestQuickLine) * Math.ceil(blockSize / longestQuickLine) <= quickStepsOfBlock;
  if (isLight && !hasLongLine(bytes)) return false;
  let left = quickStepsOfBlock * Math.ceil(bytes.length / blockSize);
  const sought = prefix.length > 0 ? prefix : literal;
  const next = (from: number): number => (sought === undefined ? from : bytes.indexOf(sought, from));
  for (let at = next(0); at !== -1 && at < bytes.length; ) {
    const start = at === 0 ? 0 : bytes.lastIndexOf(newline, at - 1) + 1;
    const lineEnd = bytes.indexOf(newline, at);
    const end = lineEnd === -1 ? bytes.length : lineEnd;
    let starts: number | undefined;
    if (prefix.length === 0) at = next(end + 1);
    else for (starts = 0; at !== -1 && at < end; at = next(at + 1)) starts += 1;
    // Rounded up, so that the steps of few lengths are computed.
    const steps = on((end - start) | 31, starts);
    const isLong = steps > quickSteps || end - start > longestQuickLine;
    if (isLong && (literal === undefined || bytes.subarray(start, end).includes(literal))) return true;
    if (!isLong) left -= steps;
    if (left < 0) return true;
  }
  return false;
}

function hasLongLine(bytes: Buffer): boolean {
  for (let start = 0; bytes.length - start > longestQuickLine; ) {
    const end = bytes.lastIndexOf(newline, start + longestQuickLine);
    if (end < start) return true;
    start = end + 1;
  }
  return false;
}

type Disjointness = (one: string, other: string) => boolean;

/** ASCII, and the two characters that are letters of it in another case. */
const asciiAndKin = [...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)), "\u017f", "\u212a"];
/** Matches atoms that match none but those. */
const narrow =
  /^(?:[^\\[.^$\u0080-\uffff]|\\[dwtnvfr]|\\[^A-Za-z0-9]|\[(?!\^)(?:[^\\\u0080-\uffff]|\\[dwtnvfr]|\\[^A-Za-z0-9])*\])$/;

/** Makes a check of whether no character is matched by both of two atoms: the end of a line is none. May miss some. */
function createDisjointness(flags: string): Disjointness {
  const compiled = new Map<string, string>();
  const charsOf = (atom: string): string => {
    let chars = compiled.get(atom);
    if (chars === undefined) {
      const one = new RegExp(atom, flags);
      chars = asciiAndKin.filter((char) => (atom === "." ? char !== "\n" : one.test(char))).join("");
      compiled.set(atom, chars);
    }
    return chars;
  };
  return (one, other) => {
    if (other === "$") return true;
    if (isPlace.test(other) || !(narrow.test(one) || narrow.test(other))) return false;
    const chars = charsOf(other);
    return ![...charsOf(one)].some((char) => chars.includes(char));
  };
}

/** Returns the text that an expression of one alternative begins with, without what may be missing. */
function prefixOf(source: string): string {
  const start = /^(?:\\b)?((?:\\[^A-Za-z0-9]|[^\\[\].^$()*+?{}|\ud800-\udfff])*)([*?{]?)/u;
  const [, run = "", repetition] = start.exec(source) ?? [];
  return (repetition ? run.replace(/\\?.$/su, "") : run).replace(/\\(.)/gsu, "$1");
}
