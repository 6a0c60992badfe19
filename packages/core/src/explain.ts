import type { JsonSchema } from "./interface.ts";
import { isPlainObject, jsonType, quote } from "./json.ts";
import { nearestName } from "./names.ts";
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

/** The library's errors in the words of this package: leaves only, one a field, those inside a failed union left out. */
export function explain(errors: readonly ValidationError[], schema: JsonSchema, value: unknown): ArgumentIssue[] {
  const issues = new Map<string, ArgumentIssue>();
  const unions = errors.filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf");
  for (const error of errors) {
    const inUnion = unions.some(({ keywordLocation }) => error.keywordLocation.startsWith(`${keywordLocation}/`));
    if (wrappers.has(error.keyword) || inUnion || error.keyword === "false") continue;
    const issue = explainOne(error, schema, value);
    // What the schema of a property says follows, and says more.
    if ((issues.get(issue.field)?.reason ?? vague) === vague) issues.set(issue.field, issue);
  }
  return [...issues.values()];
}

function explainOne(error: ValidationError, schema: JsonSchema, value: unknown): ArgumentIssue {
  const place = pointerParts(error.instanceLocation);
  const found = place.reduce<unknown>(stepInto, value);
  const keywordParts = pointerParts(error.keywordLocation);
  const owner = schemaAt(schema, keywordParts.slice(0, -1));
  const rule = isPlainObject(owner) ? owner[error.keyword] : undefined;
  const field = fieldName(place);
  switch (error.keyword) {
    case "required": {
      const missing = /"(.*)"\.$/s.exec(error.error)?.[1] ?? "";
      const wanted = isPlainObject(owner) && isPlainObject(owner.properties) ? owner.properties[missing] : undefined;
      return { field: fieldName([...place, missing]), reason: `is required${typeNames(wanted, ", expected ")}` };
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = /^Property "(.*)" does not match/s.exec(error.error)?.[1] ?? "";
      if (rule !== false) return { field: fieldName([...place, name]), reason: vague };
      return { field: fieldName([...place, name]), reason: unknownArgument(name, owner, found) };
    }
    case "type":
      return { field, reason: `expected ${typeNames(owner)}, got ${described(found)}` };
    case "enum":
      return { field, reason: `expected one of ${quote(rule, 300)}, got ${described(found)}` };
    case "const":
      return { field, reason: `expected ${quote(rule)}, got ${described(found)}` };
    case "anyOf":
    case "oneOf":
      return { field, reason: `fits none of the forms that the schema allows, got ${described(found)}` };
    case "pattern":
      return { field, reason: `does not match the pattern ${quote(rule, 200)}, got ${described(found)}` };
    case "minimum":
    case "exclusiveMinimum":
    case "maximum":
    case "exclusiveMaximum":
    case "minLength":
    case "maxLength":
    case "minItems":
    case "maxItems":
      return { field, reason: `${limitWords[error.keyword]} ${quote(rule)}, got ${sizeOf(error.keyword, found)}` };
    default:
      return { field, reason: error.error };
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
  if (typeof found === "string" && keyword.endsWith("Length")) return String([...found].length);
  return Array.isArray(found) ? String(found.length) : quote(found);
}

/** Says that `name` is not among the properties of the schema `owner`, with the nearest that is. */
export function unknownArgument(name: string, owner: unknown, found: unknown): string {
  const allowed = isPlainObject(owner) && isPlainObject(owner.properties) ? Object.keys(owner.properties) : [];
  const given = isPlainObject(found) ? Object.keys(found) : [];
  const near = nearestName(
    name,
    allowed.filter((candidate) => !given.includes(candidate)),
  );
  const list = allowed.length > 0 ? `allowed: ${allowed.join(", ")}` : "none is allowed here";
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
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
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
