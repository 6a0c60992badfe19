import type { OutputUnit } from "@cfworker/json-schema";
import type { JsonSchema } from "../interface.ts";
import { copyJson, isPlainObject } from "../json.ts";
import { draftOf, walkSchema } from "./schemaParts.ts";
import { countSteps } from "./steps.ts";

type SchemaLibrary = typeof import("@cfworker/json-schema");

/** More errors than these say nothing new. */
export const mostErrors = 2000;

/** A keyword of the schema, and the part of the value that it refuses; both places are JSON Pointers. */
export type ValidationError = Pick<OutputUnit, "keyword" | "keywordLocation" | "instanceLocation">;

/** An error of these keywords is about one property, whose place only the next error has. */
const namesInNext: ReadonlySet<string> = new Set(["additionalProperties", "unevaluatedProperties", "propertyNames"]);

let library: SchemaLibrary | undefined;

/** Errors of `value`, none when it fits. Asynchronous only while the library loads. */
export type Validator = (value: unknown) => readonly ValidationError[] | Promise<readonly ValidationError[]>;

/**
 * Creates a validator of one schema, of which `accepts` is the quick check; the library is loaded, and the schema prepared, at the first call.
 * Throws TooManySteps for a value that costs too much.
 */
export function createValidator(schema: JsonSchema, accepts: Check | undefined = compileQuickCheck(schema)): Validator {
  let run: ((value: unknown) => readonly ValidationError[]) | undefined;
  const check = (loaded: SchemaLibrary, value: unknown): readonly ValidationError[] => {
    library = loaded;
    run ??= prepare(loaded, schema);
    return run(value);
  };
  return (value) => {
    if (accepts?.(value)) return [];
    countSteps(schema, value);
    return library ? check(library, value) : import("@cfworker/json-schema").then((loaded) => check(loaded, value));
  };
}

/** Copies the schema: the library writes on the one that it is given and cannot take a frozen one. */
function prepare(library: SchemaLibrary, schema: JsonSchema): (value: unknown) => readonly ValidationError[] {
  const own = copyJson(schema);
  walkSchema(own, makeFormsCompile);
  const draft = draftOf(schema);
  const lookup = library.dereference(own);
  const run = (value: unknown, short: boolean): OutputUnit[] =>
    library.validate(value, own, draft, lookup, short).errors;
  return (value) => {
    if (run(value, true).length === 0) return [];
    const errors = run(value, false);
    const isSaidBefore = (index: number): boolean =>
      errors[index]?.keyword === "false" && namesInNext.has(errors[index - 1]?.keyword ?? "");
    return errors
      .map(withPlace)
      .filter((_, index) => !isSaidBefore(index))
      .slice(0, mostErrors);
  };
}

/** Adds the place to an error: the library names some only in its sentences; they are taken from the neighbours in its list. */
function withPlace(
  { keyword, keywordLocation, instanceLocation }: OutputUnit,
  index: number,
  errors: readonly OutputUnit[],
): ValidationError {
  const [before, next] = [errors[index - 1], errors[index + 1]];
  return {
    keyword,
    keywordLocation: (keyword === "false" ? before?.keywordLocation : undefined) ?? keywordLocation,
    instanceLocation: (namesInNext.has(keyword) ? next?.instanceLocation : undefined) ?? instanceLocation,
  };
}

/**
 * Changes patterns so that they compile: the library uses the `u` flag, which refuses needless escapes such as `\_` that many
 * schemas have. Its own expression for the format `url`, which no draft has, could run away.
 */
function makeFormsCompile(own: JsonSchema): void {
  if (typeof own.pattern === "string") own.pattern = withoutNeedlessEscapes(own.pattern);
  if (own.format === "url") delete own.format;
}

const classOrEscape = /\[(?:\\.|[^\]\\])*\]|\\./gs;
const needlessEscape = /\\(?:([^\w\s^$\\.*+?()[\]{}|/-])|([_gijlmoqyaehz]))|\\./gis;

/** Returns the same expression in a form that the `u` flag takes, where there is one. */
export function withoutNeedlessEscapes(source: string): string {
  try {
    new RegExp(source, "u");
    return source;
  } catch {
    return source.replace(classOrEscape, (part) =>
      // In a class `\-` is needed, elsewhere it is refused.
      part === "\\-" ? "-" : part.replace(needlessEscape, (needed, sign, letter) => sign ?? letter ?? needed),
    );
  }
}

/** Tells whether a value certainly fits a schema. */
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
 * Returns a check that says yes only where the full validator would, for the keywords that most tools use; undefined for a schema
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
