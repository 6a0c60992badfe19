import { type JsonSchema, toolOutput } from "@toolcrib/core";

/** The answer of a tool, as JSON text and as data. */
export function jsonOutput(data: Record<string, unknown>): string {
  return toolOutput(JSON.stringify(data), { data });
}

/** The schema of such an answer: all properties are always there. */
export function objectSchema(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}
