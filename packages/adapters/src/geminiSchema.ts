import type { JsonSchema } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";

/** The keywords that Gemini documents for `parametersJsonSchema`. */
const plainKeywords = [
  "$id",
  "$anchor",
  "type",
  "format",
  "title",
  "description",
  "enum",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "required",
  "propertyOrdering",
] as const;
const schemaKeywords = ["items", "additionalProperties"] as const;
const listKeywords = ["prefixItems", "anyOf", "oneOf"] as const;
const mapKeywords = ["properties", "$defs"] as const;

/**
 * Returns a JSON Schema reduced to the keywords that Gemini supports. The registry checks the rest (`pattern`, `minLength`, `not`, …).
 * A `default` is told in the description, `const` becomes an `enum` of one, `allOf` of one schema becomes that schema, and draft-07 spellings become the newer ones.
 */
export function toGeminiSchema(schema: JsonSchema): JsonSchema {
  const source = normalize(schema);
  if (typeof source.$ref === "string") return withDefinitions(source, { $ref: source.$ref });
  const kept: JsonSchema = {};
  for (const keyword of plainKeywords) if (keyword in source) kept[keyword] = source[keyword];
  // A keyword that Gemini does not take: the model reads it in words.
  if ("default" in source) kept.description = describeDefault(source);
  for (const keyword of schemaKeywords) if (keyword in source) kept[keyword] = reduce(source[keyword]);
  for (const keyword of listKeywords) {
    const list = source[keyword];
    if (Array.isArray(list)) kept[keyword] = list.map(reduce);
  }
  for (const keyword of mapKeywords) if (isObject(source[keyword])) kept[keyword] = reduceMap(source[keyword]);
  return kept;
}

function describeDefault({ description, default: stated }: JsonSchema): string {
  const told = `default ${JSON.stringify(stated)}`;
  return typeof description === "string" && description !== "" ? `${description}; ${told}` : told;
}

function withDefinitions(source: JsonSchema, target: JsonSchema): JsonSchema {
  return isObject(source.$defs) ? { $defs: reduceMap(source.$defs), ...target } : target;
}

function normalize(schema: JsonSchema): JsonSchema {
  const { definitions, allOf, items, const: only, $ref, ...rest } = schema;
  const inner = Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0]) ? normalize(allOf[0]) : {};
  return {
    ...inner,
    ...rest,
    ...(definitions === undefined ? {} : { $defs: definitions }),
    ...(items === undefined ? {} : Array.isArray(items) ? { prefixItems: items } : { items }),
    ...("const" in schema ? { enum: [only] } : {}),
    ...(typeof $ref === "string" ? { $ref: $ref.replace(/^#\/definitions\//, "#/$defs/") } : {}),
  };
}

function reduce(value: unknown): unknown {
  return isObject(value) ? toGeminiSchema(value) : value;
}

function reduceMap(map: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, reduce(value)]));
}
