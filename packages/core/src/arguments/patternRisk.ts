import type { JsonSchema } from "../interface.ts";
import { isPlainObject } from "../json.ts";
import { filterKeywords } from "./schemaParts.ts";
import { countUniqueSteps } from "./uniquePaths.ts";

/** What one group, or the whole source, could make a backtracking matcher try. */
interface Group {
  /** Ways through the alternatives that are complete. */
  alternatives: number;
  /** Ways through the current alternative. */
  ways: number;
  /** Quantifiers without an upper bound, each as many ways as the text is long. */
  unbounded: number;
}

/** Steps up to which no better estimate is looked for. */
const fewSteps = 10_000;

const quantifier = /([*+?])\??|\{(\d+)(,?)(\d*)\}\??/y;

const uniqueSteps = new Map<string, number>();
const mostRemembered = 500;

/** Steps on each character of a text, for each place where a match can start. `Infinity` if one atom may be reached in several ways. */
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
