import { describeArgument } from "../errors.ts";
import type { JsonSchema } from "../interface.ts";
import { isPlainObject, jsonType, quote } from "../json.ts";
import { nearestName } from "../names.ts";
import { pointerName, resolveReference } from "./schemaParts.ts";
import { mostErrors, type ValidationError } from "./validator.ts";

/** A problem of one argument: `field` is a path (`edits[0].old_text`), empty for the arguments as a whole. */
export interface ArgumentIssue {
  field: string;
  reason: string;
}

/** Keywords whose subschemas report errors of their own, which say more. */
export const wrappers: ReadonlySet<string> = new Set([
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
  for (const [index, { keyword, keywordLocation, instanceLocation }] of errors.entries()) {
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
      const isUnion = keyword === "anyOf" || keyword === "oneOf";
      add(place, () => {
        if (!isUnion) return explainOne(problem);
        const inner = branchesOf(errors, index + 1, `${keywordLocation}/`);
        const fitting = errors.length < mostErrors ? countFitting(problem, inner) : 0;
        if (fitting > 1)
          return `fits ${fitting} of the forms that the schema allows, and may fit only one, got ${described(found)}`;
        return explainOne(problem) + explainNearest(inner, instanceLocation, schema, value);
      });
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

/** Returns the errors within a union, those of each branch by themselves: they follow from `start`, at locations that begin with `union`. */
function branchesOf(errors: readonly ValidationError[], start: number, union: string): ValidationError[][] {
  const branches = new Map<string, ValidationError[]>();
  for (let index = start; index < errors.length; index += 1) {
    const error = errors[index] as ValidationError;
    // A branch that is `false` has no place of its own.
    if (error.keyword === "false" && `${error.keywordLocation}/` === union) continue;
    if (!error.keywordLocation.startsWith(union)) break;
    const branch = error.keywordLocation.slice(union.length).split("/", 1)[0] ?? "";
    const found = branches.get(branch);
    if (found) found.push(error);
    else branches.set(branch, [error]);
  }
  return [...branches.values()];
}

/** Returns how many forms of a union the value fits: those without an error. */
function countFitting({ keyword, owner }: Problem, refused: readonly unknown[]): number {
  const forms = owner[keyword];
  return Array.isArray(forms) ? forms.filter((form) => form !== false).length - refused.length : 0;
}

/** Says what the branch lacks that the value at `at` is nearest to: one of its type, then the one with the fewest errors; if it has the type of none, names the types. */
function explainNearest(
  branches: readonly ValidationError[][],
  at: string,
  schema: JsonSchema,
  value: unknown,
): string {
  const firsts = branches.map((branch) => branch.find(({ keyword }) => !wrappers.has(keyword)));
  const ofType = branches.filter(
    (_, index) => firsts[index]?.keyword !== "type" || firsts[index]?.instanceLocation !== at,
  );
  if (ofType.length === 0) {
    const types = firsts.map((error) =>
      typeNames(schemaAt(schema, pointerParts(error?.keywordLocation ?? "").slice(0, -1))),
    );
    return types.length > 0 && types.every(Boolean) ? `; expected ${[...new Set(types)].join(" or ")}` : "";
  }
  // A constant tells the forms of a union apart.
  const distance = (branch: readonly ValidationError[]): number =>
    branch.length + (branch.some(({ keyword }) => keyword === "const") ? mostErrors : 0);
  const [nearest = []] = ofType.toSorted((one, other) => distance(one) - distance(other));
  const [issue] = explain(nearest, schema, value).issues;
  return issue ? `; the nearest form: ${describeArgument(issue.field, issue.reason)}` : "";
}

function explainOne({ keyword, found, owner }: Problem): string {
  const rule = owner[keyword];
  switch (keyword) {
    case "false":
      return "is not allowed";
    case "type":
      if (Array.isArray(owner.enum)) return explainOne({ keyword: "enum", place: [], found, owner });
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

export function pointerParts(location: string): string[] {
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

export function stepInto(place: unknown, key: string): unknown {
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
