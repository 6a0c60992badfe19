import type { JsonSchema } from "@toolcrib/core";

/** The schema of an object. A property whose name ends in `?` may be absent. */
export function objectSchema(properties: Record<string, JsonSchema>): JsonSchema {
  const names = Object.keys(properties);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ""), properties[name]])),
    required: names.filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}

export const text: JsonSchema = { type: "string" };
export const count: JsonSchema = { type: "integer", minimum: 0 };
export const flag: JsonSchema = { type: "boolean" };

export function oneOf(...values: string[]): JsonSchema {
  return { enum: values };
}

export function listOf(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}
