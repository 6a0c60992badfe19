import { isObject } from "../isObject.ts";
import type { Fields, Problems } from "./checks.ts";

/** A schema within another one. */
interface PlacedSchema {
  readonly at: string;
  readonly own: Fields;
  /** True within the items of an array. */
  readonly isInItems: boolean;
}

const schemaKeywords = [
  ...["additionalProperties", "items", "contains", "not", "if", "then", "else", "propertyNames"],
  ...["unevaluatedItems", "unevaluatedProperties", "contentSchema"],
];
const listKeywords = ["anyOf", "oneOf", "allOf", "prefixItems"];
const mapKeywords = ["properties", "patternProperties", "dependentSchemas", "$defs"];

/** Returns a schema and all schemas in it, those of `$defs` too. */
export function innerSchemas(root: unknown): readonly PlacedSchema[] {
  const found: PlacedSchema[] = [];
  const visit = (schema: unknown, at: string, isInItems: boolean): void => {
    if (!isObject(schema)) return;
    found.push({ at, own: schema, isInItems });
    for (const keyword of Object.keys(schema)) {
      const value = schema[keyword];
      const isItem = isInItems || keyword === "items" || keyword === "prefixItems";
      if (schemaKeywords.includes(keyword)) visit(value, `${at}/${keyword}`, isItem);
      else if (listKeywords.includes(keyword) && Array.isArray(value))
        for (const [index, one] of value.entries()) visit(one, `${at}/${keyword}/${index}`, isItem);
      else if (mapKeywords.includes(keyword) && isObject(value))
        for (const [name, one] of Object.entries(value)) visit(one, `${at}/${keyword}/${name}`, isItem);
    }
  };
  visit(root, "", false);
  return found;
}

const types = ["string", "number", "integer", "boolean", "object", "array", "null"];

type Fits = (value: unknown) => boolean;
const isText: Fits = (value) => typeof value === "string";
const isFlag: Fits = (value) => typeof value === "boolean";
const isNumber: Fits = (value) => Number.isFinite(value);
const isCount: Fits = (value) => Number.isInteger(value) && Number(value) >= 0;
const isTexts: Fits = (value) => Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
const isMap: Fits = (value) => isObject(value) && Object.values(value).every(isObject);
const isSchemas: Fits = (value) => Array.isArray(value) && value.length > 0 && value.every(isObject);

const each = (keywords: string, fits: Fits): [string, Fits][] => keywords.split(" ").map((keyword) => [keyword, fits]);

/** The forms of the keywords in draft 2020-12, without boolean schemas, which not every service takes. */
const forms: Readonly<Record<string, Fits>> = Object.fromEntries([
  ...each(
    "$schema $id $anchor $ref $comment title description format pattern contentEncoding contentMediaType",
    isText,
  ),
  ...each("deprecated readOnly writeOnly uniqueItems", isFlag),
  ...each("minimum maximum exclusiveMinimum exclusiveMaximum", isNumber),
  ...each("multipleOf", (value) => isNumber(value) && Number(value) > 0),
  ...each("minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains", isCount),
  ...each("required", isTexts),
  ...each("examples", Array.isArray),
  ...each("enum", (value) => Array.isArray(value) && value.length > 0),
  ...each("dependentRequired", (value) => isObject(value) && Object.values(value).every(isTexts)),
  ...each("properties patternProperties dependentSchemas $defs", isMap),
  ...each("anyOf oneOf allOf prefixItems", isSchemas),
  ...each("items contains not if then else propertyNames contentSchema unevaluatedItems", isObject),
  ...each("additionalProperties unevaluatedProperties", (value) => isFlag(value) || isObject(value)),
  ...each("definitions dependencies additionalItems id $dynamicRef $recursiveRef", () => false),
]);

/** Checks that a schema is one of draft 2020-12. */
export function checkForm(problems: Problems, root: unknown): void {
  for (const { at, own } of innerSchemas(root)) {
    for (const [keyword, value] of Object.entries(own)) {
      const fits = Object.hasOwn(forms, keyword) ? forms[keyword] : undefined;
      const said = `${at}/${keyword}: JSON schema is invalid. It must match JSON Schema draft 2020-12`;
      if (fits) problems.expect(fits(value), said);
    }
    const given = Array.isArray(own.type) ? own.type : [own.type];
    const isKnown = given.length > 0 && given.every((word) => types.includes(String(word)));
    problems.expect(!("type" in own) || isKnown, `${at}/type: unknown type ${JSON.stringify(own.type)}`);
    if (typeof own.pattern !== "string") continue;
    try {
      new RegExp(own.pattern, "u");
    } catch {
      problems.add(`${at}: ${JSON.stringify(own.pattern)} is not a 'regex'`);
    }
  }
}

/** Returns the definitions of a schema that lead back to themselves. */
function circlesIn(schema: unknown): readonly string[] {
  const defs = isObject(schema) && isObject(schema.$defs) ? schema.$defs : {};
  const targets = (from: unknown): string[] =>
    innerSchemas(from).flatMap(({ own }) => (typeof own.$ref === "string" ? [own.$ref.replace("#/$defs/", "")] : []));
  const reaches = (from: string, to: string, seen: Set<string>): boolean =>
    targets(defs[from]).some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  return Object.keys(defs).filter((name) => reaches(name, name, new Set()));
}

export function checkNoRecursion(problems: Problems, schema: unknown): void {
  for (const name of circlesIn(schema)) problems.add(`#/$defs/${name} is recursive`);
}
