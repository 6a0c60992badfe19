import { withoutClock } from "../arguments/clockValues.ts";
import { filterKeywords } from "../arguments/schemaParts.ts";
import type { ExecutableTool, ToolListing } from "../interface.ts";
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
  // Not imported: node:crypto takes 8 ms to load, and most who import this package never ask.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256")
    .update(canonicalJson({ ...identity, ...claims }))
    .digest("hex");
}

function definitionOf(tool: ExecutableTool | ToolListing): Pick<ToolListing, "name" | "description" | "parameters"> {
  return "getSchema" in tool ? schemaOf(tool).function : tool;
}
