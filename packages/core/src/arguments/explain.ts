import type { JsonSchema } from "../interface.ts";
import { isPlainObject, jsonType, quote } from "../json.ts";
import { nearestName } from "../names.ts";
import { pointerName, resolveReference } from "./schemaParts.ts";
import type { ValidationError } from "./validator.ts";

/** A problem of one argument: `field` is a path (`edits[0].old_text`), empty for the arguments as a whole. */
export interface ArgumentIssue {
  field: string;
  reason: string;
}

/** Keywords whose subschemas report errors of their own, which say more. */
const wrappers: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "items",
  "prefixItems",
  "additionalItems",
  "$ref",
  "$recursiveRef",
  "allOf",
  "if",
  "dependentSchemas",
]);

/** Keywords that say more than the errors of their subschemas. */
const unions: ReadonlySet<string> = new Set(["anyOf", "oneOf", "propertyNames"]);

/** The number of problems of one call that are described; the others are only counted. */
export const mostIssues = 5;
const mostAllowedNames = 50;

/** Descriptions of the first problems, and the number of all. */
export interface Explanation {
  readonly issues: readonly ArgumentIssue[];
  readonly count: number;
}

/** A validation error with what it is about: the value at its place, and the schema whose keyword refused it. */
interface Problem {
  readonly keyword: string;
  readonly place: readonly string[];
  readonly found: unknown;
  readonly owner: JsonSchema;
}

/** Describes validation errors: one a field, without those inside a failed union. `noun` is what a property is called. */
export function explain(
  errors: readonly ValidationError[],
  schema: JsonSchema,
  value: unknown,
  noun = "an argument",
): Explanation {
  const issues: ArgumentIssue[] = [];
  const fields = new Set<string>();
  const listed = new Set<string>();
  const add = (place: readonly string[], reason: () => string): void => {
    const field = fieldName(place);
    if (fields.has(field)) return;
    fields.add(field);
    if (issues.length < mostIssues) issues.push({ field, reason: reason() });
  };
  // The errors inside a union follow its own.
  let union: string | undefined;
  for (const { keyword, keywordLocation, instanceLocation } of errors) {
    if (wrappers.has(keyword) || (union !== undefined && keywordLocation.startsWith(union))) continue;
    if (unions.has(keyword)) union = `${keywordLocation}/`;
    const place = pointerParts(instanceLocation);
    const found = place.reduce<unknown>(stepInto, value);
    const owner = schemaAt(schema, pointerParts(keywordLocation).slice(0, -1));
    const problem = { keyword, place, found, owner: isPlainObject(owner) ? owner : {} };
    if (namesMissing.has(keyword)) {
      // One error for each name; all are listed at the first.
      const key = `${keywordLocation} ${instanceLocation}`;
      if (!listed.has(key)) for (const { name, reason } of missingNames(problem)) add([...place, name], () => reason);
      listed.add(key);
    } else if (!forAdditional.has(keyword)) {
      add(place, () => explainOne(problem));
    } else if (problem.owner[keyword] === false) {
      const around = place.slice(0, -1).reduce<unknown>(stepInto, value);
      add(place, () => unknownArgument(place.at(-1) ?? "", owner, around, noun));
    }
  }
  return { issues, count: fields.size };
}

/** Keywords whose schema, if they hold one, reports errors that say more. */
const forAdditional: ReadonlySet<string> = new Set(["additionalProperties", "unevaluatedProperties"]);
const namesMissing: ReadonlySet<string> = new Set(["required", "dependentRequired", "dependencies"]);

function missingNames({ keyword, found, owner }: Problem): { name: string; reason: string }[] {
  const given = isPlainObject(found) ? found : {};
  const missing = (names: unknown): string[] =>
    Array.isArray(names) ? names.filter((name) => !Object.hasOwn(given, name)) : [];
  if (keyword === "required") {
    const properties = isPlainObject(owner.properties) ? owner.properties : {};
    return missing(owner.required).map((name) => ({
      name,
      reason: `is required${typeNames(stepInto(properties, name), ", expected ")}`,
    }));
  }
  const rule = owner[keyword];
  return Object.entries(isPlainObject(rule) ? rule : {})
    .filter(([key]) => Object.hasOwn(given, key))
    .flatMap(([key, names]) => missing(names).map((name) => ({ name, reason: `is required with ${key}` })));
}

function explainOne({ keyword, found, owner }: Problem): string {
  const rule = owner[keyword];
  switch (keyword) {
    case "false":
      return "is not allowed";
    case "type":
      return `expected ${typeNames(owner)}, got ${described(found)}`;
    case "enum":
      return `expected one of ${quote(rule, 300)}, got ${described(found)}`;
    case "const":
      return `expected ${quote(rule)}, got ${described(found)}`;
    case "anyOf":
    case "oneOf":
      return `fits none of the forms that the schema allows, got ${described(found)}`;
    case "pattern":
      return `does not match the pattern ${quote(rule, 200)}, got ${described(found)}`;
    case "format":
      return `does not have the format ${quote(rule)}, got ${described(found)}`;
    case "uniqueItems":
      return "must not hold an item twice";
    case "propertyNames":
      return "has a name that the schema does not allow";
    case "multipleOf":
    case "minimum":
    case "exclusiveMinimum":
    case "maximum":
    case "exclusiveMaximum":
    case "minLength":
    case "maxLength":
    case "minItems":
    case "maxItems":
    case "minProperties":
    case "maxProperties":
      return `${limitWords[keyword]} ${quote(rule)}, got ${sizeOf(keyword, found)}`;
    default:
      return `breaks the rule ${quote(keyword)} of the schema`;
  }
}

const limitWords = {
  multipleOf: "must be a multiple of",
  minimum: "must be at least",
  exclusiveMinimum: "must be above",
  maximum: "must be at most",
  exclusiveMaximum: "must be below",
  minLength: "must have a length of at least",
  maxLength: "must have a length of at most",
  minItems: "must have a number of items of at least",
  maxItems: "must have a number of items of at most",
  minProperties: "must have a number of properties of at least",
  maxProperties: "must have a number of properties of at most",
};

function sizeOf(keyword: string, found: unknown): string {
  if (typeof found === "string" && keyword.endsWith("Length")) return String(characterCount(found));
  if (isPlainObject(found)) return String(Object.keys(found).length);
  return Array.isArray(found) ? String(found.length) : quote(found);
}

/** Counts code points, as JSON Schema does. */
function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Says that `name` is not among the properties of the schema `owner`, with the nearest that is. */
export function unknownArgument(name: string, owner: unknown, found: unknown, noun = "an argument"): string {
  const allowed = isPlainObject(owner) && isPlainObject(owner.properties) ? Object.keys(owner.properties) : [];
  const given = isPlainObject(found) ? found : {};
  const near = nearestName(
    name,
    allowed.filter((candidate) => !Object.hasOwn(given, candidate)),
  );
  const more = allowed.length > mostAllowedNames ? ` and ${allowed.length - mostAllowedNames} more` : "";
  const list =
    allowed.length > 0 ? `allowed: ${allowed.slice(0, mostAllowedNames).join(", ")}${more}` : "none is allowed here";
  return `is not ${noun}${near === undefined ? "" : `; did you mean ${near}?`} (${list})`;
}

function typeNames(schema: unknown, before = ""): string {
  if (!isPlainObject(schema) || schema.type === undefined) return "";
  const names = [schema.type].flat();
  const item = names.length === 1 && names[0] === "array" ? typeNames(schema.items, " of ") : "";
  return `${before}${names.join(" or ")}${item}`;
}

function described(value: unknown): string {
  const type = jsonType(value);
  if (type === "null" || type === "undefined") return type;
  return `${type} ${quote(value)}`;
}

function pointerParts(location: string): string[] {
  const parts = location.split("/").slice(1);
  return parts.map((part) => pointerName(decoded(part)));
}

/** Decodes a name: the library escapes it as in a URI. */
function decoded(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function stepInto(place: unknown, key: string): unknown {
  return typeof place === "object" && place !== null && Object.hasOwn(place, key) ? Reflect.get(place, key) : undefined;
}

/** Follows a keyword location, through `$ref` too. */
function schemaAt(root: JsonSchema, parts: readonly string[]): unknown {
  return parts.reduce<unknown>(
    (place, part) =>
      part === "$ref" && isPlainObject(place) && typeof place.$ref === "string"
        ? resolveReference(root, place.$ref)
        : stepInto(place, part),
    root,
  );
}

function fieldName(parts: readonly string[]): string {
  return parts.map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`)).join("");
}
