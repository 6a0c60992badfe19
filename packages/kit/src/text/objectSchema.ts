import type { JsonSchema } from "@toolcrib/core";

/** Returns the schema of an object that holds nothing else. A property whose name ends in `?` may be absent. */
export function objectSchema(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const names = Object.keys(properties);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ""), properties[name]])),
    required: names.filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}
