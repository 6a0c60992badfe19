import type { JsonSchema } from "@toolcrib/core";

export const text: JsonSchema = { type: "string" };
export const count: JsonSchema = { type: "integer", minimum: 0 };
export const flag: JsonSchema = { type: "boolean" };

export function oneOf(...values: string[]): JsonSchema {
  return { enum: values };
}

export function listOf(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}
