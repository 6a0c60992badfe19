// Two versions of a schema, compared keyword by keyword at each place that both have.
import type { JsonSchema } from "@toolcrib/core";
import { canonicalJson, draftOf, filterKeywords, isPlainObject, mostLevels, quote } from "@toolcrib/core/internal";
import { type Arguments, changedDefaults } from "./defaultValues.ts";

/** A change of the values that one place of a schema takes. */
export interface SchemaChange {
  readonly kind:
    | "argument-required"
    | "argument-gone"
    | "argument-added"
    | "narrowed"
    | "widened"
    | "default"
    | "incomparable";
  /** Such as `edits[].old_text`; empty for the whole. */
  readonly path: string;
  /** The difference as a sentence. */
  readonly detail: string;
}

/** Keywords that change nothing about which values fit; in a schema without references neither do definitions and their names. */
const words: ReadonlySet<string> = new Set(["title", "description", "default", "examples", "$comment", "deprecated"]);
const annotations: ReadonlySet<string> = new Set([
  ...[...words, "readOnly", "writeOnly", "$schema", "$id", "$anchor", "$defs", "definitions"],
]);

/** Compared in their own way, or together with others. */
const structure: ReadonlySet<string> = new Set(
  "type enum const anyOf required properties additionalProperties items".split(" "),
);
const lower: ReadonlySet<string> = new Set("minimum exclusiveMinimum minLength minItems minProperties".split(" "));
const upper: ReadonlySet<string> = new Set("maximum exclusiveMaximum maxLength maxItems maxProperties".split(" "));
/** A schema with one of these takes less than without it; `false` is the same as none. */
const limits: ReadonlySet<string> = new Set([
  ...[...lower, ...upper, "pattern", "format", "uniqueItems", "multipleOf"],
]);

/** Keywords that mean something only beside each other: the same on both sides, or not compared. */
const groups: readonly (readonly string[])[] = [
  ["if", "then", "else"],
  ["contains", "minContains", "maxContains"],
];
const tuple = ["prefixItems", "items", "additionalItems"];
const patterned = ["patternProperties", "properties", "additionalProperties"];

/** Their meaning depends on all their neighbours: the same text is not the same rule. */
const dependent = ["unevaluatedProperties", "unevaluatedItems"];

/** Compares the arguments of two tools, which may declare defaults beside their schemas. */
export function compareArguments(before: Arguments, after: Arguments): SchemaChange[] {
  const changes = compareSchemas(before.parameters, after.parameters);
  if (isTooDeep(before.parameters) || isTooDeep(after.parameters)) return changes;
  const [breaking, additions] = [false, true].map((isMore) =>
    changes.filter(({ kind }) => /added|widened/.test(kind) === isMore),
  ) as [SchemaChange[], SchemaChange[]];
  const isTold = (kind: SchemaChange["kind"]) => (path: string) =>
    breaking.some((change) => change.kind === kind && change.path === path);
  const isRequired = isTold("argument-required");
  const defaults = changedDefaults(before, after, isTold("argument-gone")).filter(({ path }) => !isRequired(path));
  return [...breaking, ...defaults, ...additions.filter(({ path }) => !breaking.some((one) => one.path === path))];
}

/**
 * Lists how the values that fit `after` differ from those that fit `before`, defaults aside. Without a change of kind
 * `argument-required`, `argument-gone`, `narrowed` or `incomparable` every value that fits `before` fits `after`: what has no order
 * is `incomparable`.
 */
export function compareSchemas(before: JsonSchema, after: JsonSchema): SchemaChange[] {
  if (isTooDeep(before) || isTooDeep(after)) return [incomparable("", "is too large to compare")];
  if (draftOf(before) !== draftOf(after)) return [incomparable("", "has another version of JSON Schema ($schema)")];
  const hasReferences = [before, after].some((schema) =>
    /"\$(?:ref|dynamicRef|recursiveRef)":/.test(JSON.stringify(schema)),
  );
  if (!hasReferences) return compare(before, after, "");
  // The target of a reference may differ although its own text does not, and below other keywords it may be called like a word.
  const isRule = (keyword: string, value: unknown): boolean => !words.has(keyword) || isPlainObject(value);
  const [was, is] = [before, after].map((schema) => canonicalJson(filterKeywords(schema, isRule)));
  return was === is ? [] : [incomparable("", "has references ($ref), which are not compared")];
}

/** Returns whether a schema is nested deeper than a registry takes. */
export function isTooDeep(schema: JsonSchema): boolean {
  let inner: unknown[] = [schema];
  for (let level = 0; inner.length > 0; level += 1) {
    if (level > mostLevels) return true;
    inner = inner.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return false;
}

function compare(before: unknown, after: unknown, path: string): SchemaChange[] {
  if (before === after) return [];
  const [was, is] = [before, after].map((schema) => (schema === true ? {} : schema));
  if (was === false) return [{ kind: "argument-added", path, detail: "is new" }];
  if (is === false) return [{ kind: "argument-gone", path, detail: "is no longer taken" }];
  if (!isPlainObject(was) || !isPlainObject(is)) return [incomparable(path, "is not a schema")];
  const neighbourly = dependent.find((keyword) => is[keyword] !== undefined);
  if (neighbourly !== undefined && constraintsOf(was) !== constraintsOf(is))
    return [incomparable(path, `has ${neighbourly}, which is not compared`)];
  const isTuple = [was, is].some(({ items, prefixItems }) => Array.isArray(items) || prefixItems !== undefined);
  const hasPatterns = was.patternProperties !== undefined || is.patternProperties !== undefined;
  const together = [...groups, ...(isTuple ? [tuple] : []), ...(hasPatterns ? [patterned] : [])];
  const known = new Set([...annotations, ...structure, ...together.flat()]);
  const alone = Object.keys({ ...was, ...is }).filter((keyword) => !known.has(keyword));
  return [
    ...valueChanges(was, is, path),
    ...[...alone.map((keyword) => [keyword]), ...together].flatMap((unit) => unitChanges(unit, was, is, path)),
    ...requiredChanges(was, is, path),
    ...(hasPatterns ? [] : propertyChanges(was, is, path)),
    ...(isTuple ? [] : compare(was.items ?? true, is.items ?? true, `${path}[]`)),
  ];
}

/** Compares the lists of what a place takes: of types, values and choices. More of them take more. */
function valueChanges(was: JsonSchema, is: JsonSchema, path: string): SchemaChange[] {
  const types = [was, is].map((schema) => optionalList(schema.type)?.map(String));
  const [old, now] = types.map((names) => names?.join(" or ") ?? "any type");
  const values = [was, is].map(valuesOf);
  const choices = [was, is].map((schema) => optionalList(schema.anyOf)?.map(constraintsOf));
  return (["narrowed", "widened"] as const).flatMap((kind): SchemaChange[] => {
    const isLess = kind === "narrowed";
    const missing = ([first, last]: readonly (readonly string[] | undefined)[]): readonly string[] =>
      isLess ? lacking(first, last) : lacking(last, first);
    const told = missing(values).join(", ");
    return [
      missing(types).length > 0 && `was ${old} and is ${now}`,
      told !== "" && (isLess ? `no longer takes ${told}` : `takes ${told} too`),
      missing(choices).length > 0 && `has ${isLess ? "fewer" : "more"} choices (anyOf)`,
    ].flatMap((detail) => (detail === false ? [] : [{ kind, path, detail }]));
  });
}

/** Lists entries of `from` that `to` lacks. A list that is not there takes everything. */
function lacking(from: readonly string[] = ["any other value"], to?: readonly string[]): readonly string[] {
  const isIn = (one: string): boolean => to?.includes(one) || (one === "integer" && to?.includes("number")) || false;
  return to === undefined ? [] : from.filter((one) => !isIn(one));
}

/** Returns the values that `enum` and `const` both leave, as JSON text. */
function valuesOf(schema: JsonSchema): readonly string[] | undefined {
  const listed = Array.isArray(schema.enum) ? schema.enum.map(canonicalJson) : undefined;
  if (!("const" in schema)) return listed;
  const only = canonicalJson(schema.const);
  return listed === undefined || listed.includes(only) ? [only] : [];
}

/** Compares keywords that stand together, or one that stands alone. */
function unitChanges(unit: readonly string[], was: JsonSchema, is: JsonSchema, path: string): SchemaChange[] {
  const [first = ""] = unit;
  const isLimit = limits.has(first);
  const [old, now] = [was, is].map((schema) => {
    const stated = unit.filter((name) => schema[name] !== undefined && !(isLimit && schema[name] === false));
    return stated.length === 0
      ? undefined
      : constraintsOf(Object.fromEntries(stated.map((name) => [name, schema[name]])));
  });
  if (old === now) return [];
  const [before, after] = [was[first], is[first]];
  const shown = (value: unknown): string => (value === undefined ? "absent" : quote(value));
  const values = `has another ${first}: it was ${shown(before)} and is ${shown(after)}`;
  if (now === undefined) return [{ kind: "widened", path, detail: isLimit ? values : `no longer has ${first}` }];
  if (!isLimit) return [incomparable(path, `has another ${first}, which is not compared`)];
  if (old === undefined) return [{ kind: "narrowed", path, detail: values }];
  const isBound = lower.has(first) || upper.has(first);
  if (!isBound || typeof before !== "number" || typeof after !== "number") return [incomparable(path, values)];
  return [{ kind: after > before === lower.has(first) ? "narrowed" : "widened", path, detail: values }];
}

function requiredChanges(was: JsonSchema, is: JsonSchema, path: string): SchemaChange[] {
  const [before, after] = [was, is].map(({ required }) => (optionalList(required) ?? []).map(String)) as [
    string[],
    string[],
  ];
  const newly = after.filter((name) => !before.includes(name));
  const dropped = before.filter((name) => !after.includes(name));
  return [
    ...newly.map((name): SchemaChange => {
      const detail = Object.hasOwn(properties(was), name) ? "was optional and is required" : "is new and required";
      return { kind: "argument-required", path: inside(path, name), detail };
    }),
    ...dropped.map((name): SchemaChange => ({ kind: "widened", path: inside(path, name), detail: madeOptional })),
  ];
}

/** The detail of an argument, or a field of data, that may be missing now. */
export const madeOptional = "was required and is optional";

function propertyChanges(was: JsonSchema, is: JsonSchema, path: string): SchemaChange[] {
  const [before, after] = [properties(was), properties(is)];
  const [others, othersNow] = [was.additionalProperties ?? true, is.additionalProperties ?? true];
  const changes = Object.keys({ ...before, ...after }).flatMap((name) =>
    compare(
      Object.hasOwn(before, name) ? before[name] : others,
      Object.hasOwn(after, name) ? after[name] : othersNow,
      inside(path, name),
    ),
  );
  if (others !== false && othersNow !== false) return [...changes, ...compare(others, othersNow, inside(path, "*"))];
  if (others === othersNow) return changes;
  const closed: SchemaChange =
    othersNow === false
      ? { kind: "narrowed", path, detail: "takes no other names any more" }
      : { kind: "widened", path, detail: "takes other names too" };
  return [...changes, closed];
}

const inside = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

function properties({ properties: given }: JsonSchema): Record<string, unknown> {
  return isPlainObject(given) ? given : {};
}

function optionalList(value: unknown): readonly unknown[] | undefined {
  return value === undefined || Array.isArray(value) ? value : [value];
}

function incomparable(path: string, detail: string): SchemaChange {
  return { kind: "incomparable", path, detail };
}

/** Returns what a schema says about values as JSON text, words aside. */
function constraintsOf(schema: unknown): string {
  const isRule = (keyword: string): boolean => !annotations.has(keyword);
  return canonicalJson(isPlainObject(schema) ? filterKeywords(schema, isRule) : schema);
}
