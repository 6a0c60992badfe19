import type { JsonSchema } from "../interface.ts";
import { isPlainObject } from "../json.ts";

/** Whether a value certainly fits a schema. */
export type Check = (value: unknown) => boolean;

const annotations: ReadonlySet<string> = new Set([
  "$schema",
  "$comment",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
]);

const typeChecks: Readonly<Record<string, Check>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: Array.isArray,
  object: isPlainObject,
};

/**
 * A check that says yes only where the full validator would, for the keywords that most tools use; undefined for a schema
 * with any other. After a no the validator decides: so an ordinary valid call needs no validator, and every error is still its own.
 */
export function compileQuickCheck(schema: unknown): Check | undefined {
  if (schema === true) return () => true;
  if (!isPlainObject(schema)) return undefined;
  const checks: Check[] = [];
  for (const keyword of Object.keys(schema)) {
    if (annotations.has(keyword) || keyword === "required" || keyword === "additionalProperties") continue;
    const check = compileKeyword(keyword, schema);
    if (!check) return undefined;
    checks.push(check);
  }
  if (!("properties" in schema) && ("required" in schema || "additionalProperties" in schema)) {
    const check = compileProperties({ ...schema, properties: {} });
    if (!check) return undefined;
    checks.push(check);
  }
  const [first = () => true, second = () => true, ...others] = checks;
  if (others.length === 0) return (value) => first(value) && second(value);
  return (value) => checks.every((check) => check(value));
}

function compileKeyword(keyword: string, schema: JsonSchema): Check | undefined {
  const rule = schema[keyword];
  const limit = typeof rule === "number" ? rule : Number.NaN;
  switch (keyword) {
    case "type":
      return typeof rule === "string" ? typeChecks[rule] : undefined;
    case "properties":
      return compileProperties(schema);
    case "items": {
      const item = compileQuickCheck(rule);
      return item && ((value) => !Array.isArray(value) || value.every(item));
    }
    case "enum": {
      if (!Array.isArray(rule) || !rule.every((item) => typeof item === "string")) return undefined;
      const allowed: ReadonlySet<unknown> = new Set(rule);
      return (value) => allowed.has(value);
    }
    case "minimum":
      return (value) => typeof value !== "number" || value >= limit;
    case "maximum":
      return (value) => typeof value !== "number" || value <= limit;
    case "exclusiveMinimum":
      return typeof rule === "number" ? (value) => typeof value !== "number" || value > rule : undefined;
    case "minItems":
      return (value) => !Array.isArray(value) || value.length >= limit;
    case "maxItems":
      return (value) => !Array.isArray(value) || value.length <= limit;
    case "minLength":
      // Length is counted in code points: as many units may be fewer of these.
      return (value) => typeof value !== "string" || value.length >= 2 * limit || (limit === 1 && value !== "");
    default:
      return undefined;
  }
}

function compileProperties(schema: JsonSchema): Check | undefined {
  const { properties, required = [], additionalProperties = true } = schema;
  if (!isPlainObject(properties) || typeof additionalProperties !== "boolean") return undefined;
  const checks = new Map<string, Check>();
  for (const [key, property] of Object.entries(properties)) {
    const check = compileQuickCheck(property);
    if (!check) return undefined;
    checks.set(key, check);
  }
  const wanted: readonly string[] = Array.isArray(required) ? required : [];
  return (value) => {
    if (!isPlainObject(value)) return false;
    for (const key of wanted) if (!Object.hasOwn(value, key)) return false;
    for (const key of Object.keys(value)) {
      const check = checks.get(key);
      if (check ? !check(value[key]) : !additionalProperties) return false;
    }
    return true;
  };
}
