import { withWords } from "../arguments/mend.ts";
import type { JsonSchema } from "../interface.ts";
import { canonicalJson, clip, jsonType } from "../json.ts";
import { joinBranches, type Steps } from "./joinBranches.ts";
import { resolved } from "./references.ts";

const branching = ["anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];
/** Keywords that are about the values of one type. */
const ofType: Readonly<Record<string, readonly string[]>> = {
  object: ["properties", "required", "additionalProperties", "propertyOrdering", "minProperties", "maxProperties"],
  array: ["items", "prefixItems", "minItems", "maxItems", "uniqueItems"],
  string: ["format", "pattern", "minLength", "maxLength"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
};
const common = ["title", "description", "default"];

/**
 * Returns a plain schema in which each part has one type, and a union nothing beside its branches. `allOf` is merged, the
 * branches of an object are joined.
 */
export function onlyOneType(given: JsonSchema, root: JsonSchema, steps: Steps): JsonSchema {
  if (given.$ref !== undefined) return given;
  let schema = mergeAllOf(given, root);
  if (schema.$ref !== undefined) return schema;
  const isObject = schema.type === "object" || (schema.type === undefined && "properties" in schema);
  if (isObject && branching.some((keyword) => keyword in schema)) {
    const { $defs } = root;
    const joined = joinBranches({ type: "object", ...schema, ...($defs !== undefined && { $defs }) }, "It", steps);
    const { $defs: _, ...rest } = joined.schema;
    return withOneType(withWords(rest, joined.words));
  }
  const { oneOf, anyOf = oneOf, ...others } = schema;
  if (Array.isArray(anyOf)) {
    const isTyped = anyOf.every((one) => ["type", "$ref", "enum", "const", "anyOf", "oneOf"].some((key) => key in one));
    if (isTyped || typesOf(others).length === 0) {
      const beside = Object.entries(others).filter(([keyword]) => keyword !== "type" && !common.includes(keyword));
      const words = beside.length === 0 ? "" : `Must fit ${clip(JSON.stringify(Object.fromEntries(beside)), 300)}.`;
      return withWords({ ...pick(others, common), anyOf }, words);
    }
    schema = withWords(others, `Must fit one of ${clip(JSON.stringify(anyOf), 300)}.`);
  }
  return withOneType(schema);
}

function withOneType(schema: JsonSchema): JsonSchema {
  const types = typesOf(schema);
  if (types.length === 0) return schema;
  const fitting = types.flatMap((type) => branchOf(schema, type));
  const branches =
    fitting.length > 0 ? fitting : types.flatMap((type) => branchOf({ ...schema, enum: undefined }, type));
  const all = Object.values(ofType).flat();
  const rest = Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => keyword !== "type" && keyword !== "enum" && !all.includes(keyword)),
  );
  const [only] = branches;
  return branches.length === 1
    ? { ...only, ...rest, ...pick(only ?? {}, ["description"]) }
    : { ...rest, anyOf: branches };
}

/** Returns the part of a schema that is about one type; none where its enum has no value of that type. */
function branchOf(schema: JsonSchema, type: string): readonly JsonSchema[] {
  const branch = { type, ...(type === "array" && { items: {} }), ...pick(schema, ofType[type] ?? []) };
  if (!Array.isArray(schema.enum)) return [branch];
  const values = schema.enum.filter((value) => isOfType(value, type));
  if (values.length === 0) return [];
  if (type === "null" || (type === "boolean" && values.length === 2)) return [branch];
  if (type === "string" || type === "number" || type === "integer") return [{ ...branch, enum: values }];
  const { description } = schema;
  return [
    withWords(
      { ...branch, ...(description !== undefined && { description }) },
      `Must be ${values.map((value) => clip(canonicalJson(value), 100)).join(" or ")}.`,
    ),
  ];
}

function isOfType(value: unknown, type: string): boolean {
  return jsonType(value) === type || (type === "integer" && Number.isInteger(value));
}

/** Returns the types of a schema, as stated or as its other keywords have it. */
function typesOf({ type, enum: values, ...schema }: JsonSchema): readonly string[] {
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.includes("number") ? type.filter((one) => one !== "integer") : type;
  if (Array.isArray(values)) return [...new Set(values.map(jsonType))];
  return Object.keys(ofType).filter((one) => one !== "integer" && ofType[one]?.some((keyword) => keyword in schema));
}

function pick(schema: JsonSchema, keywords: readonly string[]): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keywords.includes(keyword)));
}

/** Merges the schemas of `allOf`, each resolved, into one; what two say differently is told. One reference stays as it is. */
function mergeAllOf({ allOf, ...own }: JsonSchema, root: JsonSchema): JsonSchema {
  if (!Array.isArray(allOf)) return own;
  const beside = Object.keys(own).filter((keyword) => !common.includes(keyword));
  const [first] = allOf;
  if (allOf.length === 1 && beside.length === 0 && first.$ref !== undefined)
    return { ...pick(own, ["description"]), $ref: first.$ref };
  let made = own;
  const told: unknown[] = [];
  for (const part of allOf) {
    const { allOf: inner, ...merged } = resolved(part, root);
    if (inner !== undefined) told.push({ allOf: inner });
    for (const [keyword, value] of Object.entries(merged)) {
      const before = made[keyword];
      if (before === undefined) made = { ...made, [keyword]: value };
      else if (keyword === "required") made = { ...made, required: [...new Set([before, value].flat())] };
      else if (keyword === "properties") made = { ...made, properties: { ...Object(value), ...Object(before) } };
      else if (!common.includes(keyword) && canonicalJson(before) !== canonicalJson(value))
        told.push({ [keyword]: value });
    }
  }
  return told.length === 0
    ? made
    : withWords(made, `Must also fit ${clip(told.map((one) => JSON.stringify(one)).join(", "), 300)}.`);
}
