import type { JsonSchema } from "@toolcrib/core";
import { canonicalJson, draftOf, filterKeywords, isPlainObject, mostLevels, quote } from "@toolcrib/core/internal";
import { boundProblem, mayBe, typeProblem, valueProblem } from "./valueRanges.ts";

/** A place where a schema takes less than another. */
export interface Narrowing {
  readonly kind: "argument-required" | "argument-gone" | "narrowed" | "incomparable";
  /** Such as `edits[].old_text`; empty for the whole. */
  readonly path: string;
  readonly detail: string;
  /** The same said of the way back, from the second schema to the first. */
  readonly reversed?: string;
}

/** Keywords that change nothing about which values fit; in a schema without references neither do definitions and their names. */
const words: ReadonlySet<string> = new Set(["title", "description", "default", "examples", "$comment", "deprecated"]);
const annotations: ReadonlySet<string> = new Set([
  ...[...words, "readOnly", "writeOnly", "$schema", "$id", "$anchor", "$defs", "definitions"],
]);

/** Keywords that mean something only beside each other: equal on both sides, or not compared. */
const groups: readonly (readonly string[])[] = [
  ["not"],
  ["oneOf"],
  ["if", "then", "else"],
  ["contains", "minContains", "maxContains"],
  ["dependentRequired"],
  ["dependentSchemas"],
  ["dependencies"],
  ["propertyNames"],
];

/** Compared below, keyword by keyword. */
const compared: ReadonlySet<string> = new Set([
  ..."type enum const pattern format multipleOf uniqueItems minimum maximum exclusiveMinimum exclusiveMaximum".split(
    " ",
  ),
  ..."minLength maxLength minItems maxItems minProperties maxProperties required properties patternProperties".split(
    " ",
  ),
  ..."additionalProperties items prefixItems additionalItems allOf anyOf".split(" "),
  ...groups.flat(),
]);

/** Keywords whose meaning depends on all their neighbours: the same text is not the same rule. */
const dependent: ReadonlySet<string> = new Set(["unevaluatedProperties", "unevaluatedItems"]);

/** More comparisons than these of subschemas tell nothing that a person would read. */
const mostSteps = 2000;

const tooLarge = "is too large to compare";

/** Returns whether a schema is nested deeper than a registry takes. */
export function isTooDeep(schema: JsonSchema): boolean {
  let inner: unknown[] = [schema];
  for (let level = 0; inner.length > 0; level += 1) {
    if (level > mostLevels) return true;
    inner = inner.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return false;
}

/** Facts about both whole schemas, and the work that is left. */
interface Comparison {
  stepsLeft: number;
}

const reference = /"\$(?:ref|dynamicRef|recursiveRef)":/;
/** A reference to anything but the whole or a schema by its name: below other keywords a name may look like a keyword. */
const farReference = /"\$(?:ref|dynamicRef|recursiveRef)":(?!"#(?:\/(?:\$defs|definitions|properties)\/[^/%"\\]*)*")/;

/** Returns each place where `to` does not take all that `from` takes. None means that every value that fits `from` fits `to`. */
export function narrowings(from: JsonSchema, to: JsonSchema): Narrowing[] {
  if (isTooDeep(from) || isTooDeep(to)) return [incomparable("", tooLarge)];
  if (draftOf(from) !== draftOf(to)) return [incomparable("", "has another version of JSON Schema ($schema)")];
  const texts = [from, to].map((schema) => JSON.stringify(schema));
  if (!texts.some((text) => reference.test(text))) return compare(from, to, "", { stepsLeft: mostSteps });
  // The target of a reference may differ although its own text does not.
  const isFar = texts.some((text) => farReference.test(text));
  const all = [from, to].map((schema) =>
    canonicalJson(isFar ? schema : filterKeywords(schema, (keyword) => !words.has(keyword))),
  );
  return all[0] === all[1] ? [] : [incomparable("", "has references ($ref), which are not compared")];
}

function compare(from: unknown, to: unknown, path: string, comparison: Comparison): Narrowing[] {
  comparison.stepsLeft -= 1;
  if (comparison.stepsLeft < 0) return [incomparable(path, tooLarge)];
  if (to === true || from === false || same(from, to)) return [];
  const old = from === true ? {} : from;
  if (to === false) return [{ kind: "argument-gone", path, detail: "is no longer taken" }];
  if (!isPlainObject(old) || !isPlainObject(to)) return [incomparable(path, "is not a schema")];
  const { allOf, anyOf, ...own } = to;
  const problems = ownNarrowings(old, own, path, comparison);
  for (const each of list(allOf)) problems.push(...compare(old, each, path, comparison));
  if (anyOf !== undefined) problems.push(...choiceNarrowings(old, list(anyOf), path, comparison));
  return problems;
}

/** Lists narrowings of a schema itself: `to` has neither `allOf` nor `anyOf`. */
function ownNarrowings(from: JsonSchema, to: JsonSchema, path: string, comparison: Comparison): Narrowing[] {
  const problems = keywordNarrowings(from, to, path, comparison);
  if (problems.length === 0) return problems;
  const fits = (part: unknown): boolean => compare(part, to, path, comparison).length === 0;
  // One that all must fit is enough; of those of which one must fit, each has to.
  if (list(from.allOf).some(fits)) return [];
  return Array.isArray(from.anyOf) && from.anyOf.every(fits) ? [] : problems;
}

function choiceNarrowings(
  from: JsonSchema,
  choices: readonly unknown[],
  path: string,
  comparison: Comparison,
): Narrowing[] {
  const isCovered = (part: unknown): boolean =>
    choices.some((choice) => compare(part, choice, path, comparison).length === 0);
  if (isCovered(from)) return [];
  if (Array.isArray(from.anyOf) && from.anyOf.every(isCovered)) return [];
  const detail = "takes less than before: not all of its choices (anyOf) are there";
  return [{ kind: "narrowed", path, detail, reversed: "takes more than before: it has more choices (anyOf)" }];
}

function keywordNarrowings(from: JsonSchema, to: JsonSchema, path: string, comparison: Comparison): Narrowing[] {
  const problems: Narrowing[] = [typeProblem, valueProblem, boundProblem].flatMap((check) =>
    check(from, to).map((problem) => ({ kind: "narrowed" as const, path, ...problem })),
  );
  for (const keyword of ["pattern", "format", "uniqueItems", "multipleOf"]) {
    const rule = to[keyword];
    if (rule === undefined || rule === false || equal(keyword, from, to) || isMultiple(keyword, from, rule)) continue;
    const [was, is] = [from[keyword], rule].map((one) => (one === undefined ? "absent" : quote(one)));
    const detail = `has another ${keyword}: it was ${was} and is ${is}`;
    problems.push({ kind: "narrowed", path, detail, reversed: `has another ${keyword}: it was ${is} and is ${was}` });
  }
  for (const group of groups) {
    const isIn = group.some((keyword) => to[keyword] !== undefined);
    if (isIn && !group.every((keyword) => equal(keyword, from, to))) {
      problems.push(incomparable(path, `has another ${group[0]}, which is not compared`));
    }
  }
  for (const keyword of Object.keys(to)) {
    if (compared.has(keyword) || annotations.has(keyword)) continue;
    if (dependent.has(keyword)) problems.push(incomparable(path, `has ${keyword}, which is not compared`));
    else if (!equal(keyword, from, to))
      problems.push(incomparable(path, `has another ${keyword}, which is not compared`));
  }
  if (mayBe(from, "object")) problems.push(...objectNarrowings(from, to, path, comparison));
  if (mayBe(from, "array")) problems.push(...arrayNarrowings(from, to, path, comparison));
  return problems;
}

function objectNarrowings(from: JsonSchema, to: JsonSchema, path: string, comparison: Comparison): Narrowing[] {
  const problems: Narrowing[] = [];
  const before = properties(from);
  const after = properties(to);
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  for (const name of list(to.required)) {
    if (typeof name !== "string" || list(from.required).includes(name)) continue;
    const detail = Object.hasOwn(before, name) ? "was optional and is required" : "is new and required";
    problems.push({ kind: "argument-required", path: at(name), detail, reversed: "was required and is optional" });
  }
  const patterned = from.patternProperties !== undefined || to.patternProperties !== undefined;
  const names = Object.keys({ ...before, ...after });
  const differ = names.some((name) => Object.hasOwn(before, name) !== Object.hasOwn(after, name));
  if (patterned && (differ || !equal("patternProperties", from, to))) {
    return [...problems, incomparable(path, "has another patternProperties, which is not compared")];
  }
  const [others, otherNow] = [from.additionalProperties ?? true, to.additionalProperties ?? true];
  for (const name of names) {
    const was = Object.hasOwn(before, name) ? before[name] : others;
    const is = Object.hasOwn(after, name) ? after[name] : otherNow;
    problems.push(...compare(was, is, at(name), comparison));
  }
  if (others === false) return problems;
  const closed = {
    kind: "narrowed",
    path,
    detail: "takes no other names any more",
    reversed: "takes other names too",
  } as const;
  return [...problems, ...(otherNow === false ? [closed] : compare(others, otherNow, at("*"), comparison))];
}

function arrayNarrowings(from: JsonSchema, to: JsonSchema, path: string, comparison: Comparison): Narrowing[] {
  const hasTuple = [from, to].some(
    ({ items, prefixItems, additionalItems }) =>
      Array.isArray(items) || prefixItems !== undefined || additionalItems !== undefined,
  );
  if (!hasTuple) return to.items === undefined ? [] : compare(from.items ?? true, to.items, `${path}[]`, comparison);
  const isEqual = ["items", "prefixItems", "additionalItems"].every((keyword) => equal(keyword, from, to));
  return isEqual ? [] : [incomparable(path, "has another prefixItems or items, which is not compared")];
}

/** Returns whether one rule implies the other: whole numbers are multiples of 1, and those of 6 are of 3. */
function isMultiple(
  keyword: string,
  { type, multipleOf = type === "integer" ? 1 : undefined }: JsonSchema,
  rule: unknown,
): boolean {
  return (
    keyword === "multipleOf" &&
    Number.isInteger(multipleOf) &&
    Number.isInteger(rule) &&
    Number(multipleOf) % Number(rule) === 0
  );
}

function properties({ properties: given }: JsonSchema): Record<string, unknown> {
  return isPlainObject(given) ? given : {};
}

function list(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

function incomparable(path: string, detail: string): Narrowing {
  return { kind: "incomparable", path, detail };
}

/** Returns whether a keyword says the same on both sides, words aside. */
function equal(keyword: string, from: JsonSchema, to: JsonSchema): boolean {
  return same({ [keyword]: from[keyword] }, { [keyword]: to[keyword] });
}

function same(a: unknown, b: unknown): boolean {
  return constraintsOf(a) === constraintsOf(b);
}

function constraintsOf(schema: unknown): string {
  const isRule = (keyword: string): boolean => !annotations.has(keyword);
  return canonicalJson(isPlainObject(schema) ? filterKeywords(schema, isRule) : schema);
}
