import type { JsonSchema } from "../interface.ts";
import { isPlainObject } from "../json.ts";
import { resolveReference, walkSchema } from "./schemaParts.ts";

/** The most schemas that may apply to one value: every call pays for each. */
const mostApplied = 1000;

/** Says that a schema, or a value under it, costs more steps than a call may take. */
export class TooManySteps extends Error {}

const inPlace = ["allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"] as const;
const alone = ["not", "if", "then", "else"] as const;

/**
 * Returns a schema and all that apply to the same value, each as often as a reference leads there. Throws TooManySteps past 1,000 of them, so
 * also for references that lead back to themselves.
 */
type LookUp = (schema: unknown) => readonly JsonSchema[];

const lookUps = new WeakMap<JsonSchema, LookUp>();

/** Returns what looks up in one schema. Answers are kept: `root` must not change after the first call. */
export function lookUpOf(root: JsonSchema): LookUp {
  const before = lookUps.get(root);
  if (before) return before;
  const lookUp = lookUpIn(root);
  lookUps.set(root, lookUp);
  return lookUp;
}

function lookUpIn(root: JsonSchema): LookUp {
  const known = new Map<unknown, readonly JsonSchema[]>();
  const gather = (one: unknown, depth = 0): readonly JsonSchema[] => {
    const before = known.get(one);
    if (before) return before;
    if (!isPlainObject(one)) return [];
    const parts: unknown[] = typeof one.$ref === "string" ? [resolveReference(root, one.$ref)] : [];
    if (one.$recursiveRef !== undefined) parts.push(root);
    for (const keyword of alone) parts.push(one[keyword]);
    for (const keyword of inPlace) parts.push(...Object.values(Object(one[keyword])));
    const all = depth > mostApplied ? [] : [one, ...parts.flatMap((part) => gather(part, depth + 1))];
    if (depth > mostApplied || all.length > mostApplied)
      throw new TooManySteps(
        `more than ${mostApplied} schemas apply to one value, or its references lead back to themselves`,
      );
    known.set(one, all);
    return all;
  };
  return gather;
}

/** Returns the schemas for one property of a value to which `all` apply. */
export function schemasOfProperty(all: readonly JsonSchema[], name: string): unknown[] {
  const found: unknown[] = [];
  for (const { properties, patternProperties, additionalProperties, unevaluatedProperties } of all) {
    if (isPlainObject(properties) && Object.hasOwn(properties, name)) found.push(properties[name]);
    else found.push(additionalProperties, unevaluatedProperties);
    if (patternProperties !== undefined) found.push(...Object.values(Object(patternProperties)));
  }
  return found;
}

/** Returns the schemas for one item of a list to which `all` apply. */
export function schemasOfItem(all: readonly JsonSchema[], index: number): unknown[] {
  const found: unknown[] = [];
  for (const { items, prefixItems, additionalItems, contains, unevaluatedItems } of all) {
    const [first, rest] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items];
    found.push((Array.isArray(first) ? first[index] : undefined) ?? rest, contains, unevaluatedItems);
  }
  return found;
}

/** Returns all schemas that apply to one value: those found for it, and what applies with each. */
export function allApplied(
  lookUp: (schema: unknown) => readonly JsonSchema[],
  found: readonly unknown[],
): JsonSchema[] {
  const all: JsonSchema[] = [];
  for (const one of found) if (one !== undefined) for (const schema of lookUp(one)) all.push(schema);
  return all;
}

/** Steps that one check of a value may cost: a tenth of a second or two. Steps, not time: the verdict is the same everywhere. */
const mostSteps = 40_000;
/** Steps that a schema may cost when it is registered. */
const mostSchemaSteps = 100_000;
/** Lists in which no item may be there twice are compared item by item. */
const mostUniqueItems = 1000;
const partsPerStep = 256;
/** Characters of text that cost as much as one step. */
const charactersPerStep = 1024;
/** Names and values that a schema lists, or characters of its own place, that cost as much as one step. */
const namesPerStep = 256;
/** Required names, of which each may be an error. */
const requiredPerStep = 8;
const givenNamesPerStep = 64;

/** Returns a function that takes steps, or parts of them, off those that one check may cost, and throws TooManySteps past them. */
export function createStepCounter(partsPerStep = 1): (steps: number) => void {
  let left = mostSteps * partsPerStep;
  return (steps) => {
    left -= steps;
    if (left < 0) throw new TooManySteps(`that takes more than ${mostSteps} steps; pass fewer or smaller values`);
  };
}

/**
 * Counts the steps of checking a value: schemas applied to it and to each part and name of it, a reference counted each time it is followed.
 * Throws TooManySteps past 40,000.
 */
export function countSteps(root: JsonSchema, given: unknown): void {
  const spend = createStepCounter();
  const lookUp = lookUpOf(root);
  // `path` has the characters of the names around a value: each error of it names them all.
  const visit = (value: unknown, schemas: readonly unknown[], path: number): void => {
    const all = allApplied(lookUp, schemas);
    if (all.length === 0) return;
    const characters = path + (typeof value === "string" ? value.length : 0);
    for (const one of all) spend(1 + characters / charactersPerStep + stepsOf(one));
    if (Array.isArray(value)) {
      if (all.some(({ uniqueItems }) => uniqueItems === true)) {
        if (value.length > mostUniqueItems)
          throw new TooManySteps(`more than ${mostUniqueItems} items would have to differ; pass fewer`);
        // Each is compared with every other, part by part.
        spend((value.length * partsOf(value)) / partsPerStep);
      }
      for (const [index, item] of value.entries()) visit(item, schemasOfItem(all, index), path);
    } else if (isPlainObject(value)) {
      const keys = Object.keys(value);
      const forNames: unknown[] = [];
      let readers = all.length;
      for (const { propertyNames, patternProperties } of all) {
        if (propertyNames !== undefined) forNames.push(propertyNames);
        if (patternProperties !== undefined) readers += Object.keys(Object(patternProperties)).length;
      }
      // Each schema lists the names, and each pattern is tried with each.
      const length = keys.reduce((sum, key) => sum + key.length, 0);
      spend(readers * (keys.length / givenNamesPerStep + length / charactersPerStep));
      for (const key of keys) {
        if (forNames.length > 0) visit(key, forNames, path + key.length);
        visit(value[key], schemasOfProperty(all, key), path + key.length);
      }
    }
  };
  visit(given, [root], 0);
}

/** Counts the values in a value; long text weighs more. */
function partsOf(value: unknown): number {
  if (typeof value === "string") return 1 + value.length / 64;
  return Object.values(Object(value)).reduce<number>((sum, part) => sum + partsOf(part), 1);
}

const known = new WeakMap<JsonSchema, number>();

/** Returns the steps that the lists of a schema take. */
function stepsOf(schema: JsonSchema): number {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const sizeOf = (lists: readonly unknown[]): number =>
    lists.reduce<number>((sum, list) => sum + Object.keys(Object(list)).length, 0);
  const { required, dependentRequired, dependencies, properties, enum: values } = schema;
  const needed = [required, ...Object.values(Object(dependentRequired)), ...Object.values(Object(dependencies))];
  const steps = sizeOf(needed) / requiredPerStep + sizeOf([properties, values]) / namesPerStep;
  known.set(schema, steps);
  return steps;
}

/**
 * Returns why every call would cost too much under this schema, whatever its arguments; undefined if it would not. The library walks all
 * below an inner `$id` twice, and builds a URI for each place, as long as its path.
 */
export function schemaStepsProblem(root: JsonSchema): string | undefined {
  let left = mostSchemaSteps;
  const ids: string[] = [];
  // Not kept: most schemas have a quick check, and no call looks further.
  const lookUp = lookUpIn(root);
  try {
    walkSchema(root, (schema, at) => {
      while (ids.length > 0 && !at.startsWith(ids.at(-1) ?? "")) ids.pop();
      left -= lookUp(schema).length + 2 ** ids.length * (1 + at.length / namesPerStep);
      if (at !== "" && (schema.$id || schema.id)) ids.push(`${at}/`);
      if (left < 0)
        throw new TooManySteps(`it, its inner $id and the names in it take more than ${mostSchemaSteps} steps`);
    });
    return undefined;
  } catch (error) {
    if (error instanceof TooManySteps) return error.message;
    throw error;
  }
}
