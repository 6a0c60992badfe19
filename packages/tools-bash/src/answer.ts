import { type JsonSchema, toolOutput } from "@toolcrib/core";

/** The answer of a tool, as JSON text and as data. */
export function jsonOutput(shown: Record<string, unknown>, data: Record<string, unknown> = shown): string {
  return toolOutput(JSON.stringify(shown), { data });
}

/** The schema of such an answer: all properties are always there. */
export function objectSchema(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}
