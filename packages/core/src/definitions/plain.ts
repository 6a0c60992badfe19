import { withWords } from "../arguments/mend.ts";
import { holdingOf, mapHeld, pointerName, resolveReference } from "../arguments/schemaParts.ts";
import type { JsonSchema } from "../interface.ts";
import { canonicalJson, clip, isPlainObject, setOwn } from "../json.ts";

/** Keywords that say nothing about values, or are put otherwise. */
const gone: ReadonlySet<string> = new Set([
  ...["$schema", "$id", "id", "$anchor", "$comment", "$vocabulary", "$dynamicAnchor", "$recursiveAnchor"],
  ...["$defs", "definitions", "prefixItems", "items", "additionalItems", "dependencies", "patternProperties"],
]);

/** Keywords beside which a missing type may mean more than one. */
const untyped = ["$ref", "anyOf", "oneOf", "allOf", "enum", "const", "not", "if"];

/**
 * Returns parameters in the words of draft 2020-12 that every service reads alike: no schema is true or false, every array has `items`,
 * every reference leads to `$defs`, and patterns of names are told in the description.
 */
export function plainSchema(root: JsonSchema): JsonSchema {
  const names = new Map<unknown, string>();
  const definitions: Record<string, JsonSchema> = {};
  const refer = (reference: string): JsonSchema => {
    const target = endOf(root, reference);
    if (!isPlainObject(target)) return convert(target);
    let name = names.get(target);
    if (name === undefined) {
      name = freeDefinition(reference, definitions);
      names.set(target, name);
      definitions[name] = {};
      definitions[name] = convert(target);
    }
    return { $ref: `#/$defs/${name}` };
  };
  const convert = (value: unknown): JsonSchema => {
    if (!isPlainObject(value)) return value === false ? { not: {} } : {};
    const made: Record<string, unknown> = {};
    for (const [keyword, inner] of Object.entries(inNewWords(value))) {
      const part = (one: unknown): unknown =>
        typeof one === "boolean" && keyword.endsWith("Properties") ? one : convert(one);
      if (/^\$(?:dynamicR|recursiveR|r)ef$/.test(keyword)) Object.assign(made, refer(String(inner)));
      else setOwn(made, keyword, holdingOf(keyword) === undefined ? inner : mapHeld(keyword, inner, part));
    }
    if (made.type === undefined && !untyped.some((keyword) => keyword in made)) {
      if ("properties" in made) made.type = "object";
      else if ("items" in made) made.type = "array";
    }
    const patterns = Object.entries(Object(value.patternProperties)).filter(([, one]) => one !== false);
    return withPatterns(
      made,
      patterns.map(([pattern, one]) => [pattern, one, convert(one)]),
    );
  };
  const schema = { ...convert(root), type: "object" };
  return Object.keys(definitions).length === 0 ? schema : { ...schema, $defs: definitions };
}

/** Returns a schema in the keywords of draft 2020-12, its parts as they were. */
function inNewWords(schema: JsonSchema): JsonSchema {
  const kept = Object.entries(schema).flatMap(([keyword, value]) => {
    const now = gone.has(keyword) ? undefined : newValue(keyword, value, schema);
    return now === undefined ? [] : [[keyword, now] as const];
  });
  return { ...Object.fromEntries(kept), ...dependenciesOf(schema), ...itemsOf(schema) };
}

/** Returns the value of a keyword as draft 2020-12 has it, without choices and names that allow nothing; undefined for none. */
function newValue(keyword: string, value: unknown, schema: JsonSchema): unknown {
  const bound = /^(?:m|exclusiveM)(inimum|aximum)$/.exec(keyword)?.[1];
  if (bound !== undefined) {
    const [plain, exclusive] = [schema[`m${bound}`], schema[`exclusiveM${bound}`]];
    if (keyword.startsWith("m")) return exclusive === true ? undefined : value;
    const number = exclusive === true ? plain : exclusive;
    return typeof number === "number" ? number : undefined;
  }
  const holding = holdingOf(keyword);
  if (holding === "named") return Object.fromEntries(Object.entries(Object(value)).filter(([, one]) => one !== false));
  if (keyword !== "enum" && holding !== "list") return value;
  if (!Array.isArray(value) || value.length === 0) return undefined;
  if (keyword === "enum") return distinct(value);
  const some = keyword === "allOf" ? value : value.filter((one) => one !== false);
  return some.length > 0 ? some : value;
}

function dependenciesOf({ dependencies }: JsonSchema): JsonSchema {
  const entries = Object.entries(isPlainObject(dependencies) ? dependencies : {}).filter(([, one]) => one !== false);
  const isList = ([, one]: [string, unknown]): boolean => Array.isArray(one);
  const [lists, schemas] = [entries.filter(isList), entries.filter((entry) => !isList(entry))];
  return {
    ...(lists.length > 0 && { dependentRequired: Object.fromEntries(lists) }),
    ...(schemas.length > 0 && { dependentSchemas: Object.fromEntries(schemas) }),
  };
}

/** Gives an array its `items`, and a tuple `prefixItems`. */
function itemsOf({ items, additionalItems, prefixItems, type, maxItems }: JsonSchema): JsonSchema {
  const [first, rest] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items];
  const tuple: readonly unknown[] = Array.isArray(first) ? first : [];
  if (tuple.length === 0 && rest === undefined && ![type].flat().includes("array")) return {};
  return {
    ...(tuple.length > 0 && { prefixItems: tuple }),
    items: rest === false || rest === undefined ? {} : rest,
    ...(rest === false && { maxItems: Math.min(Number(maxItems ?? tuple.length), tuple.length) }),
  };
}

type Pattern = readonly [pattern: string, given: unknown, converted: JsonSchema];

function withPatterns(made: JsonSchema, patterns: readonly Pattern[]): JsonSchema {
  if (patterns.length === 0) return made;
  const schemas = distinct(patterns.map(([, , one]) => one));
  const others = schemas.length === 1 ? schemas[0] : { anyOf: schemas };
  const said = patterns.map(([pattern, one]) => `${JSON.stringify(pattern)}: ${clip(JSON.stringify(one), 300)}`);
  return withWords(
    { ...made, ...(made.additionalProperties === false && { additionalProperties: others }) },
    `Names may match ${said.join(" or ")}.`,
  );
}

export function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Map(values.map((value) => [canonicalJson(value), value])).values()];
}

/** Follows a reference to the first schema that says more than another reference. */
function endOf(root: JsonSchema, reference: string): unknown {
  const seen = new Set<string>();
  for (let next = reference; !seen.has(next); ) {
    seen.add(next);
    const target = resolveReference(root, next);
    if (!isPlainObject(target) || typeof target.$ref !== "string" || Object.keys(target).length > 1) return target;
    next = target.$ref;
  }
  return undefined;
}

/** Returns a name for `$defs` that needs no escapes. */
function freeDefinition(reference: string, taken: JsonSchema): string {
  const last = pointerName(reference.split(/[/#]/).at(-1) ?? "");
  const plain = last.replace(/[^a-zA-Z0-9_]/g, "_").replace(/^_+|_+$/g, "") || "root";
  let name = plain;
  for (let number = 2; Object.hasOwn(taken, name); number += 1) name = `${plain}_${number}`;
  return name;
}
