import type { JsonSchema } from "../interface.ts";
import { isPlainObject } from "../json.ts";
import { filterKeywords } from "./schemaParts.ts";

/** The attempts that one group, or the whole source, could cost a backtracking matcher. */
interface Group {
  /** Ways through the alternatives that are complete. */
  alternatives: number;
  /** Ways through the current alternative. */
  ways: number;
  /** Quantifiers without an upper bound, each as many ways as the text is long. */
  unbounded: number;
}

/** Atoms of a source that can be read first or last, and the ways to read none of them. */
interface Part {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly empty: number;
}

const tokens =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|.)|\[(?:\\.|[^\]\\])*\]|\(\?:|[*+?]\??|\{\d+(?:,\d*)?\}\??|./gisu;
const assertion = /^(?:[$^]|\\b)$/i;
const nothing: Part = { first: [], last: [], empty: 1 };
const mostAtoms = 64;
const mostTerms = 1000;
/** Counted repetitions up to this are written out, others count as unbounded. */
const mostCopies = 8;

/** A character of every kind that a class without characters beyond ASCII tells apart: U+017F and U+212A equal s and k in another case. */
const samples = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ..."\u017f\u212a\u00a0\u2028\u00e9",
];

/** Steps up to which no better estimate is looked for. */
const fewSteps = 10_000;

const quantifier = /([*+?])\??|\{(\d+)(,?)(\d*)\}\??/y;

const uniqueSteps = new Map<string, number>();
const mostRemembered = 500;

/**
 * Returns the steps on each character of a text, for each place where a match can start. `Infinity` if one atom may be reached in
 * several ways.
 */
function stepsPerCharacter(source: string): number {
  const known = uniqueSteps.get(source);
  if (known !== undefined) return known;
  const steps = countUniqueSteps(source) ?? Number.POSITIVE_INFINITY;
  if (uniqueSteps.size >= mostRemembered) uniqueSteps.clear();
  uniqueSteps.set(source, steps);
  return steps;
}

/**
 * Returns how many steps a regular expression takes at most on a text of `length`, judged from its source and erring upwards.
 * `Infinity` for a back-reference, look-around or a repeated group that can read a text in several ways, which may take exponentially many.
 */
export function patternSteps(source: string, length: number): number {
  const product = productOfWays(source, length);
  if (product <= fewSteps) return product;
  // An anchor within the source is not looked for here.
  const starts = source.startsWith("^") && !source.includes("|") ? 1 : length + 1;
  return Math.min(product, starts * (length + 1) * stepsPerCharacter(source) + length);
}

/** Returns the product of the ways through all parts. `Infinity` for every repeated group, back-reference and look-around. */
function productOfWays(source: string, length: number): number {
  const plain = source.replace(/\\[^1-9k]/gs, "x").replace(/\[(?:\\.|[^\]])*\]/gs, "x");
  if (/\\|\(\?[^:]/.test(plain)) return Number.POSITIVE_INFINITY;
  const whole: Group = { alternatives: 0, ways: 1, unbounded: 0 };
  const open: Group[] = [whole];
  let repeats = 0;
  let isAlternation = false;
  for (let at = 0; at < plain.length; ) {
    const group = open.at(-1) ?? whole;
    const character = plain[at];
    at += 1;
    if (character === "(") {
      open.push({ alternatives: 0, ways: 1, unbounded: 0 });
      if (plain.startsWith("?:", at)) at += 2;
      continue;
    }
    if (character === "|") {
      isAlternation ||= group === whole;
      group.alternatives += group.ways;
      group.ways = 1;
      continue;
    }
    const isGroup = character === ")" && open.length > 1;
    const part: Group = (isGroup ? open.pop() : undefined) ?? { alternatives: 0, ways: 1, unbounded: 0 };
    const outer = open.at(-1) ?? whole;
    quantifier.lastIndex = at;
    const found = quantifier.exec(plain);
    if (found) at = quantifier.lastIndex;
    const [least, most] = found ? boundsOf(found) : [1, 1];
    if (isGroup && most === Number.POSITIVE_INFINITY) return most;
    const inside = part.alternatives + part.ways;
    if (most === Number.POSITIVE_INFINITY) outer.unbounded += 1;
    else outer.ways *= (most - least + 1) * inside ** most;
    outer.unbounded += part.unbounded * (isGroup ? most : 0);
    repeats += Math.max(Number.isFinite(most) ? most : 0, least);
  }
  const starts = plain.startsWith("^") && !isAlternation ? 1 : length + 1;
  const ways = whole.alternatives + whole.ways;
  return starts * ways * (length + 1) ** whole.unbounded * (1 + repeats / 16) + length;
}

/** Steps on a text of 32 characters beyond which the next characters multiply them: the work of a hundredth of a second. */
const mostPatternSteps = 2_000_000;
const shortText = 32;

/** Returns whether a regular expression can take exponentially many steps, or too many on a short text. */
function mayRunAway(source: unknown): boolean {
  return typeof source === "string" && patternSteps(source, shortText) > mostPatternSteps;
}

/** Returns the JSON Pointer and the source of the first pattern in a schema that could run away. */
export function findRunaway(schema: JsonSchema): { readonly at: string; readonly source: string } | undefined {
  let found: { at: string; source: string } | undefined;
  filterKeywords(schema, (keyword, value, at) => {
    const sources = keyword === "pattern" ? [value] : namesOf(keyword, value);
    const source = sources.find(mayRunAway);
    if (source !== undefined) found ??= { at: `${at}/${keyword}`, source: String(source) };
    return true;
  });
  return found;
}

/**
 * Returns a schema without the patterns that could run away, for mounted tools: their server checks its own. The validator's own
 * expression for the format `url` is one of them.
 */
export function withoutRunaways(schema: JsonSchema): JsonSchema {
  let hasNames = false;
  const kept = filterKeywords(schema, (keyword, value) => {
    const isName = namesOf(keyword, value).some(mayRunAway);
    hasNames ||= isName;
    return !isName && !(keyword === "pattern" && mayRunAway(value)) && !(keyword === "format" && value === "url");
  });
  // A name that a removed pattern allows is not a surplus one.
  return hasNames ? filterKeywords(kept, (keyword) => !/^(?:additional|unevaluated)Properties$/.test(keyword)) : kept;
}

function namesOf(keyword: string, value: unknown): readonly unknown[] {
  return keyword === "patternProperties" && isPlainObject(value) ? Object.keys(value) : [];
}

function boundsOf([, sign, from, comma, to]: RegExpExecArray): [least: number, most: number] {
  if (sign === "?") return [0, 1];
  if (sign !== undefined) return [sign === "+" ? 1 : 0, Number.POSITIVE_INFINITY];
  const least = Number(from);
  if (comma === "") return [least, least];
  return [least, to === "" ? Number.POSITIVE_INFINITY : Number(to)];
}

/**
 * Counts the steps from one atom of a regular expression to a next one. `undefined` if two ways to read the same text can meet at
 * the same atom, or if the expression is too large to tell: else each atom is reached once at most at each place of a text.
 */
export function countUniqueSteps(source: string): number | undefined {
  if (source.length > 1000) return undefined;
  try {
    new RegExp(source, "u");
    return new Paths(source.match(tokens) ?? []).count();
  } catch {
    return undefined;
  }
}

class Paths {
  readonly #tokens: readonly string[];
  readonly #sets: bigint[] = [];
  readonly #next: number[][] = [];
  #at = 0;
  #terms = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  /** Throws if there is no unique path. */
  count(): number {
    const { first } = this.#readAlternatives();
    const steps = [first, ...this.#next];
    if (steps.some((next) => new Set(next).size < next.length)) throw new Error("two ways");
    const size = this.#sets.length;
    const seen = new Set<number>();
    const pairs: [number, number][] = [];
    const add = (one: number, other: number) => {
      const key = Math.min(one, other) * size + Math.max(one, other);
      if (seen.has(key)) return;
      seen.add(key);
      if ((this.#setOf(one) & this.#setOf(other)) === 0n) return;
      if (one === other) throw new Error("two ways");
      pairs.push([one, other]);
    };
    for (const next of steps) for (const one of next) for (const other of next) if (one < other) add(one, other);
    for (const [one, other] of pairs)
      for (const left of this.#nextOf(one)) for (const right of this.#nextOf(other)) add(left, right);
    return steps.reduce((sum, next) => sum + next.length, 1);
  }

  #setOf(atom: number): bigint {
    return this.#sets[atom] ?? 0n;
  }

  #nextOf(atom: number): number[] {
    return this.#next[atom] ?? [];
  }

  #readAlternatives(): Part {
    let all = this.#readSequence();
    while (this.#tokens[this.#at] === "|") {
      this.#at += 1;
      all = either(all, this.#readSequence());
    }
    return all;
  }

  #readSequence(): Part {
    let part = nothing;
    while (this.#at < this.#tokens.length && !/^[|)]$/.test(this.#tokens[this.#at] ?? ""))
      part = this.#join(part, this.#readTerm());
    return part;
  }

  #readTerm(): Part {
    const start = this.#at;
    const part = this.#readAtom();
    quantifier.lastIndex = 0;
    const found = quantifier.exec(this.#tokens[this.#at] ?? "");
    if (!found) return part;
    const end = this.#at + 1;
    const [least, most] = boundsOf(found);
    let whole = part;
    if (most > mostCopies) {
      if (part.empty > 0) throw new Error("repeats nothing");
      this.#join(part, part);
      if (least === 0) whole = either(part, nothing);
    } else {
      // The copies nest from the last: a{1,3} is a(?:a(?:a)?)?
      whole = nothing;
      for (let copy = most; copy > 0; copy -= 1) {
        this.#at = start;
        whole = this.#join(copy === most ? part : this.#readAtom(), whole);
        if (copy > least) whole = either(whole, nothing);
      }
    }
    this.#at = end;
    return whole;
  }

  #readAtom(): Part {
    this.#terms += 1;
    if (this.#terms > mostTerms || this.#sets.length >= mostAtoms) throw new Error("too large");
    const token = this.#tokens[this.#at] ?? "";
    this.#at += 1;
    if (token.startsWith("(")) {
      const part = this.#readAlternatives();
      this.#at += 1;
      return part;
    }
    if (assertion.test(token)) return nothing;
    const atom = this.#sets.push(charactersOf(token)) - 1;
    this.#next.push([]);
    return { first: [atom], last: [atom], empty: 0 };
  }

  #join(left: Part, right: Part): Part {
    for (const atom of left.last) this.#nextOf(atom).push(...right.first);
    if (left.empty > 1 || right.empty > 1) throw new Error("two ways to read nothing");
    return {
      first: left.empty > 0 ? [...left.first, ...right.first] : left.first,
      last: right.empty > 0 ? [...left.last, ...right.last] : right.last,
      empty: left.empty * right.empty,
    };
  }
}

function either(one: Part, other: Part): Part {
  return { first: [...one.first, ...other.first], last: [...one.last, ...other.last], empty: one.empty + other.empty };
}

/** Returns a bit for each sample that an atom matches, with and without regard to case. Throws for what is no atom. */
function charactersOf(atom: string): bigint {
  if (/\\ud[89a-f]/i.test(atom)) throw new Error("half a character");
  const isWide = /[^\0-\x7f]|\\[pPux]/.test(atom);
  const bits = ["su", "isu"].flatMap((flags) => {
    const expression = new RegExp(`^${atom}$`, flags);
    return samples.map((sample) => ((isWide && sample > "\x7f") || expression.test(sample) ? "1" : "0"));
  });
  return BigInt(`0b${bits.join("")}`);
}
