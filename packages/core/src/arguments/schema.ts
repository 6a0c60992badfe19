import type { JsonSchema } from "../interface.ts";
import { cutHead, isPlainObject } from "../json.ts";
import { type Holding, holdingOf, resolveReference, walkSchema } from "./schemaParts.ts";
import { schemaStepsProblem } from "./steps.ts";
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

const pattern: Check = (value, at) => {
  if (typeof value !== "string") return `${at} must be a string`;
  try {
    new RegExp(withoutNeedlessEscapes(value), "u");
    return undefined;
  } catch {
    return `${at} is not a valid regular expression: ${JSON.stringify(cutHead(value, 100))}`;
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
  patternProperties: (value, at) =>
    first(Object.keys(Object(value)), (name) => pattern(name, `${at}, a property name,`, {})),
  dependentRequired: (value, at, root) =>
    isPlainObject(value)
      ? first(Object.entries(value), ([key, item]) => names(item, `${at}/${key}`, root))
      : `${at} must be an object`,
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

const isSchema = (value: unknown): boolean => isPlainObject(value) || typeof value === "boolean";
const schemaAt: Check = (value, at) =>
  isSchema(value) ? undefined : `${at} must be a schema (an object, true or false)`;

/** Returns what is wrong with the form of a value that holds schemas; each of them is looked at by itself. */
function holdingProblem(keyword: string, holding: Holding, value: unknown, at: string, root: JsonSchema) {
  if (holding === "one" || (holding === "either" && !Array.isArray(value))) return schemaAt(value, at, root);
  if (holding === "named") {
    if (!isPlainObject(value)) return `${at} must be an object of schemas`;
    const isList = (item: unknown): boolean => keyword === "dependencies" && Array.isArray(item);
    return first(Object.entries(value), ([key, item]) => (isList(item) ? names : schemaAt)(item, `${at}/${key}`, root));
  }
  if (!Array.isArray(value) || (value.length === 0 && holding === "list"))
    return `${at} must be an array of schemas, not empty`;
  return first([...value.entries()], ([index, item]) => schemaAt(item, `${at}/${index}`, root));
}

/** Returns what is wrong with the value of a keyword that holds no schemas; undefined for any other keyword, too. */
export function keywordProblem(keyword: string, value: unknown, root: JsonSchema): string | undefined {
  return holdingOf(keyword) === undefined ? formProblem(keyword, value, keyword, root) : undefined;
}

function formProblem(keyword: string, value: unknown, at: string, root: JsonSchema): string | undefined {
  const holding = holdingOf(keyword);
  const problem = holding && holdingProblem(keyword, holding, value, at, root);
  return problem ?? (Object.hasOwn(checks, keyword) ? checks[keyword]?.(value, at, root) : undefined);
}

function first<Item>(items: readonly Item[], ask: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = ask(item);
    if (problem) return problem;
  }
  return undefined;
}

/**
 * Returns why a schema cannot be one of a tool's, or undefined where it can: a JSON Schema (2020-12 or draft-07) with known types,
 * well-shaped keywords, local references and patterns that compile; parameters with `type: "object"` at the root.
 */
export function schemaProblem(schema: unknown, at: "parameters" | "outputSchema" = "parameters"): string | undefined {
  if (!isPlainObject(schema)) return `${at} must be a JSON Schema object`;
  if (at === "parameters" && schema.type !== "object") return 'parameters must have type: "object" at the root';
  let problem: string | undefined;
  walkSchema(schema, (own, place, isKnown) => {
    if (!isKnown) return;
    problem ??= first(Object.entries(own), ([keyword, value]) =>
      formProblem(keyword, value, `${at}${place}/${keyword}`, schema),
    );
  });
  if (problem) return problem;
  const tooCostly = schemaStepsProblem(schema);
  return tooCostly && `${at} would cost too much to check calls against: ${tooCostly}`;
}

/**
 * Returns whether strict mode of the model APIs accepts the schema: every object closed (`additionalProperties: false`) with all
 * its properties required, all the way down.
 */
export function qualifiesForStrict(schema: JsonSchema): boolean {
  let qualifies = true;
  walkSchema(schema, ({ properties, required, additionalProperties, type }) => {
    if (type !== "object" && !isPlainObject(properties)) return;
    const listed = Array.isArray(required) ? required : [];
    qualifies &&=
      additionalProperties === false && Object.keys(Object(properties)).every((name) => listed.includes(name));
  });
  return qualifies;
}
