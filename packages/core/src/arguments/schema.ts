import type { JsonSchema } from "../interface.ts";
import { isPlainObject } from "../json.ts";
import { findRunaway } from "./patternRisk.ts";
import { schemaCostProblem } from "./schemaCost.ts";
import { resolveReference } from "./schemaParts.ts";
import { withoutNeedlessEscapes } from "./validator.ts";

const types: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

type Check = (value: unknown, at: string, root: JsonSchema) => string | undefined;

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
const count: Check = (value, at) => (isCount(value) ? undefined : `${at} must be a whole number from 0`);
const number: Check = (value, at) => (Number.isFinite(value) ? undefined : `${at} must be a number`);
const text: Check = (value, at) => (typeof value === "string" ? undefined : `${at} must be a string`);
const flag: Check = (value, at) => (typeof value === "boolean" ? undefined : `${at} must be true or false`);
const names: Check = (value, at) =>
  Array.isArray(value) && value.every((item) => typeof item === "string") && new Set(value).size === value.length
    ? undefined
    : `${at} must be an array of different strings`;
const list: Check = (value, at) => (Array.isArray(value) ? undefined : `${at} must be an array`);

const subschema: Check = (value, at, root) => problemAt(value, at, root);
const subschemas: Check = (value, at, root) =>
  Array.isArray(value) && value.length > 0
    ? first(value.map((item, index) => () => problemAt(item, `${at}/${index}`, root)))
    : `${at} must be an array of schemas, not empty`;
const schemaMap: Check = (value, at, root) =>
  isPlainObject(value)
    ? first(
        Object.entries(value).map(
          ([key, item]) =>
            () =>
              problemAt(item, `${at}/${key}`, root),
        ),
      )
    : `${at} must be an object of schemas`;

const pattern: Check = (value, at) => {
  if (typeof value !== "string") return `${at} must be a string`;
  try {
    new RegExp(withoutNeedlessEscapes(value), "u");
    return undefined;
  } catch {
    return `${at} is not a valid regular expression: ${JSON.stringify(value.slice(0, 100))}`;
  }
};

/** The form of each known keyword (JSON Schema 2020-12 and draft-07); unknown keywords are annotations. */
const checks: Record<string, Check> = {
  type: (value, at) =>
    types.has(value) || (Array.isArray(value) && value.length > 0 && value.every((item) => types.has(item)))
      ? undefined
      : `${at} is not a JSON Schema type: ${JSON.stringify(value)}`,
  enum: list,
  required: names,
  $ref: (value, at, root) =>
    typeof value === "string" && resolveReference(root, value) !== undefined
      ? undefined
      : `${at} does not lead to a place in this schema: ${JSON.stringify(value)}`,
  $id: text,
  $anchor: text,
  $comment: text,
  title: text,
  description: text,
  format: text,
  pattern,
  patternProperties: (value, at, root) =>
    schemaMap(value, at, root) ??
    (isPlainObject(value)
      ? first(Object.keys(value).map((key) => () => pattern(key, `${at}, a property name,`, root)))
      : undefined),
  properties: schemaMap,
  $defs: schemaMap,
  definitions: schemaMap,
  dependentSchemas: schemaMap,
  dependentRequired: (value, at, root) =>
    isPlainObject(value)
      ? first(
          Object.entries(value).map(
            ([key, item]) =>
              () =>
                names(item, `${at}/${key}`, root),
          ),
        )
      : `${at} must be an object`,
  dependencies: (value, at, root) =>
    isPlainObject(value)
      ? first(
          Object.entries(value).map(
            ([key, item]) =>
              () =>
                (Array.isArray(item) ? names : problemAt)(item, `${at}/${key}`, root),
          ),
        )
      : `${at} must be an object`,
  items: (value, at, root) => (Array.isArray(value) ? (value.length ? subschemas : list) : subschema)(value, at, root),
  prefixItems: subschemas,
  allOf: subschemas,
  anyOf: subschemas,
  oneOf: subschemas,
  not: subschema,
  if: subschema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: subschema,
  else: subschema,
  additionalProperties: subschema,
  additionalItems: subschema,
  unevaluatedProperties: subschema,
  unevaluatedItems: subschema,
  propertyNames: subschema,
  contains: subschema,
  minimum: number,
  maximum: number,
  exclusiveMinimum: (value, at, root) => (typeof value === "boolean" ? undefined : number(value, at, root)),
  exclusiveMaximum: (value, at, root) => (typeof value === "boolean" ? undefined : number(value, at, root)),
  multipleOf: (value, at) => (Number(value) > 0 ? number(value, at, {}) : `${at} must be a number above 0`),
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minContains: count,
  maxContains: count,
  minProperties: count,
  maxProperties: count,
  uniqueItems: flag,
};

/** Keywords whose values are schemas, or hold some. */
export const holdsSchemas: ReadonlySet<string> = new Set([
  ...["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"],
  ...["prefixItems", "allOf", "anyOf", "oneOf", "items", "not", "if", "then", "else", "additionalProperties"],
  ...["additionalItems", "unevaluatedProperties", "unevaluatedItems", "propertyNames", "contains"],
]);

function problemAt(schema: unknown, at: string, root: JsonSchema): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isPlainObject(schema)) return `${at} must be a schema (an object, true or false)`;
  return first(
    Object.entries(schema).map(
      ([keyword, value]) =>
        () =>
          Object.hasOwn(checks, keyword) ? checks[keyword]?.(value, `${at}/${keyword}`, root) : undefined,
    ),
  );
}

/** Returns what is wrong with the value of a keyword that holds no schemas; undefined for any other keyword, too. */
export function keywordProblem(keyword: string, value: unknown, root: JsonSchema): string | undefined {
  const check = Object.hasOwn(checks, keyword) && !holdsSchemas.has(keyword) ? checks[keyword] : undefined;
  return check?.(value, keyword, root);
}

function first(questions: readonly (() => string | undefined)[]): string | undefined {
  for (const ask of questions) {
    const problem = ask();
    if (problem) return problem;
  }
  return undefined;
}

/**
 * Returns why a schema cannot be one of a tool's, or undefined where it can: a JSON Schema (2020-12 or draft-07) with known types,
 * well-shaped keywords, local references, patterns that compile and, if it `isOwn`, cannot run away; parameters with
 * `type: "object"` at the root.
 */
export function schemaProblem(
  schema: unknown,
  at: "parameters" | "outputSchema" = "parameters",
  isOwn = true,
): string | undefined {
  if (!isPlainObject(schema)) return `${at} must be a JSON Schema object`;
  if (at === "parameters" && schema.type !== "object") return 'parameters must have type: "object" at the root';
  const problem = problemAt(schema, at, schema);
  if (problem) return problem;
  const tooCostly = schemaCostProblem(schema);
  if (tooCostly) return `${at} would cost too much to check calls against: ${tooCostly}`;
  const runaway = isOwn ? findRunaway(schema) : undefined;
  return (
    runaway &&
    `${at}${runaway.at} could take without end to match (${JSON.stringify(runaway.source.slice(0, 100))}): write it without a ` +
      "repeated group, look-around or back-reference, or check it in execute"
  );
}

/**
 * Returns whether strict mode of the model APIs accepts the schema: every object closed (`additionalProperties: false`) with all
 * its properties required, all the way down.
 */
export function qualifiesForStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(qualifiesForStrict);
  if (!isPlainObject(schema)) return true;
  const { properties, required, additionalProperties, type } = schema;
  if (type === "object" || isPlainObject(properties)) {
    const names = isPlainObject(properties) ? Object.keys(properties) : [];
    if (additionalProperties !== false) return false;
    if (names.length > 0 && !(Array.isArray(required) && names.every((name) => required.includes(name)))) return false;
  }
  const maps = ["properties", "$defs", "definitions"].flatMap((key) =>
    isPlainObject(schema[key]) ? Object.values(schema[key]) : [],
  );
  return [...maps, schema.items, schema.anyOf, schema.allOf, schema.oneOf].every(qualifiesForStrict);
}
