import type { ExecutableTool, JsonSchema, ToolListing } from "../interface.ts";
import { canonicalJson, isPlainObject, setOwn } from "../json.ts";
import { sourceOf, traitsOf } from "./registration.ts";

/**
 * Tells whether a tool is still the one that was allowed: SHA-256, in hex, of its name, origin, parameters and traits, whatever
 * the order of keys. Descriptions count only for tools of an MCP server, whose words may be an attack.
 */
export function toolFingerprint(tool: ExecutableTool | ToolListing): string {
  const { name, description, parameters } = "getSchema" in tool ? tool.getSchema().function : tool;
  const { origin, hints } = sourceOf(tool);
  const identity = { name, origin, traits: traitsOf(tool), hints };
  const isForeign = origin.startsWith("mcp:");
  const claims = isForeign ? { description, parameters } : { parameters: withoutDescriptions(parameters) };
  // Not imported: node:crypto takes 8 ms to load, and most who import this package never ask.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256")
    .update(canonicalJson({ ...identity, ...claims }))
    .digest("hex");
}

/** Keywords whose values have schemas by names of the author's choice, such as a property called `description`. */
const namedSchemas: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);
/** Keywords whose values are data. */
const data: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

function withoutDescriptions(schema: JsonSchema): JsonSchema {
  return mapValues(schema, (value, keyword) => {
    if (keyword === "description") return undefined;
    if (data.has(keyword)) return value;
    return namedSchemas.has(keyword) && isPlainObject(value) ? mapValues(value, stripped) : stripped(value);
  });
}

function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripped);
  return isPlainObject(value) ? withoutDescriptions(value) : value;
}

function mapValues(
  object: Record<string, unknown>,
  map: (value: unknown, key: string) => unknown,
): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) setOwn(made, key, map(value, key));
  return made;
}
