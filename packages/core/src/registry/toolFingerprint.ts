import { withoutClock } from "../arguments/clockValues.ts";
import { filterKeywords, walkSchema } from "../arguments/schemaParts.ts";
import type { ExecutableTool, JsonSchema, ToolListing } from "../interface.ts";
import { canonicalJson } from "../json.ts";
import { schemaOf, sourceOf, traitsOf } from "./registration.ts";

/**
 * Tells whether a tool is still the one that was allowed: SHA-256, in hex, of its name, origin, parameters and traits, whatever
 * the order of keys. Descriptions count only for tools of strangers (an MCP server, a tool with hints), whose words may be an attack; their defaults and
 * examples that are dates, times or numbers count by their type.
 */
export function toolFingerprint(tool: ExecutableTool | ToolListing): string {
  const { name, description, parameters } = definitionOf(tool);
  const { origin, hints } = sourceOf(tool);
  const identity = { name, origin, traits: traitsOf(tool), hints };
  const isThirdParty = origin.startsWith("mcp:") || hints !== undefined;
  const claims = isThirdParty
    ? { description, parameters: withoutClock(parameters) }
    : { parameters: filterKeywords(parameters, (keyword) => keyword !== "description") };
  return sha256({ ...identity, ...claims });
}

/** Hashes what `toolFingerprint` leaves out: SHA-256, in hex, of the descriptions of a tool and of its arguments. */
export function descriptionsDigest(tool: ExecutableTool | ToolListing): string {
  const { description, parameters } = definitionOf(tool);
  return sha256({ description, parameters: Object.fromEntries(descriptionsOf(parameters)) });
}

/** Returns the descriptions in a schema, each with the JSON Pointer of what it describes. */
export function descriptionsOf(schema: JsonSchema): Map<string, unknown> {
  const found = new Map<string, unknown>();
  walkSchema(schema, ({ description }, at) => {
    if (description !== undefined) found.set(at, description);
  });
  return found;
}

function definitionOf(tool: ExecutableTool | ToolListing): Pick<ToolListing, "name" | "description" | "parameters"> {
  return "getSchema" in tool ? schemaOf(tool).function : tool;
}

function sha256(value: unknown): string {
  // Not imported: node:crypto takes 8 ms to load, and most who import this package never ask.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
