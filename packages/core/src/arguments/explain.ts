import type { JsonSchema } from "../interface.ts";
import { isPlainObject, jsonType, quote } from "../json.ts";
import { nearestName } from "../names.ts";
import { resolveReference } from "./reference.ts";
import type { ValidationError } from "./validator.ts";

/** What is wrong with one argument: `field` as a path (`edits[0].old_text`), empty for the arguments as a whole. */
export interface ArgumentIssue {
  field: string;
  reason: string;
}

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

const vague = "does not fit the schema";

/** So many problems of one call are put into words; the others are counted. */
export const mostIssues = 5;
const mostAllowedNames = 50;

/** The problems in words, and how many there are in all. */
export interface Explanation {
  readonly issues: readonly ArgumentIssue[];
  readonly count: number;
}

/** The library's errors in the words of this package: leaves only, one a field, those inside a failed union left out. */
export function explain(errors: readonly ValidationError[], schema: JsonSchema, value: unknown): Explanation {
  const issues = new Map<string, ArgumentIssue>();
  const fields = new Set<string>();
  // The errors inside a union follow its own.
  let union: string | undefined;
  for (const error of errors) {
    if (union !== undefined && error.keywordLocation.startsWith(union)) continue;
    if (error.keyword === "anyOf" || error.keyword === "oneOf") union = `${error.keywordLocation}/`;
    if (wrappers.has(error.keyword)) continue;
    const field = fieldName(placeOf(error));
    fields.add(field);
    const before = issues.get(field);
    // What the schema of a property says follows, and says more.
    if (before ? before.reason === vague : issues.size < mostIssues) {
      issues.set(field, { field, reason: explainOne(error, schema, value) });
    }
  }
  return { issues: [...issues.values()], count: fields.size };
}

/** Where an error is: for a name that is missing or not allowed, that name. */
function placeOf(error: ValidationError): string[] {
  const place = pointerParts(error.instanceLocation);
  const name = nameIn(error);
  return name === undefined ? place : [...place, name];
}

function nameIn({ keyword, error }: ValidationError): string | undefined {
  if (keyword === "required") return /"(.*)"\.$/s.exec(error)?.[1] ?? "";
  if (keyword !== "additionalProperties" && keyword !== "unevaluatedProperties") return undefined;
  return /^Property "(.*)" does not match/s.exec(error)?.[1] ?? "";
}

function explainOne(error: ValidationError, schema: JsonSchema, value: unknown): string {
  const found = pointerParts(error.instanceLocation).reduce<unknown>(stepInto, value);
  const owner = schemaAt(schema, pointerParts(error.keywordLocation).slice(0, -1));
  const rule = isPlainObject(owner) ? owner[error.keyword] : undefined;
  const name = nameIn(error) ?? "";
  switch (error.keyword) {
    case "required": {
      const properties = isPlainObject(owner) && isPlainObject(owner.properties) ? owner.properties : {};
      return `is required${typeNames(stepInto(properties, name), ", expected ")}`;
    }
    case "additionalProperties":
    case "unevaluatedProperties":
      return rule === false ? unknownArgument(name, owner, found) : vague;
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
    case "minimum":
    case "exclusiveMinimum":
    case "maximum":
    case "exclusiveMaximum":
    case "minLength":
    case "maxLength":
    case "minItems":
    case "maxItems":
      return `${limitWords[error.keyword]} ${quote(rule)}, got ${sizeOf(error.keyword, found)}`;
    default:
      return error.error;
  }
}

const limitWords = {
  minimum: "must be at least",
  exclusiveMinimum: "must be above",
  maximum: "must be at most",
  exclusiveMaximum: "must be below",
  minLength: "must have a length of at least",
  maxLength: "must have a length of at most",
  minItems: "must have a number of items of at least",
  maxItems: "must have a number of items of at most",
};

function sizeOf(keyword: string, found: unknown): string {
  if (typeof found === "string" && keyword.endsWith("Length")) return String(characterCount(found));
  return Array.isArray(found) ? String(found.length) : quote(found);
}

/** In code points, as JSON Schema counts. */
function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Says that `name` is not among the properties of the schema `owner`, with the nearest that is. */
export function unknownArgument(name: string, owner: unknown, found: unknown): string {
  const allowed = isPlainObject(owner) && isPlainObject(owner.properties) ? Object.keys(owner.properties) : [];
  const given = isPlainObject(found) ? found : {};
  const near = nearestName(
    name,
    allowed.filter((candidate) => !Object.hasOwn(given, candidate)),
  );
  const more = allowed.length > mostAllowedNames ? ` and ${allowed.length - mostAllowedNames} more` : "";
  const list =
    allowed.length > 0 ? `allowed: ${allowed.slice(0, mostAllowedNames).join(", ")}${more}` : "none is allowed here";
  return `is not an argument${near === undefined ? "" : `; did you mean ${near}?`} (${list})`;
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
  return parts.map((part) => decoded(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The library escapes names as those of a URI; the places of this package's own are not escaped. */
function decoded(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function stepInto(place: unknown, key: string): unknown {
  return typeof place === "object" && place !== null && Object.hasOwn(place, key)
    ? (place as Record<string, unknown>)[key]
    : undefined;
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
