import { createHash } from "node:crypto";
import { canonicalJson } from "@toolcrib/core/internal";
import type { ListedTool } from "../mapping.ts";

/**
 * Returns a digest of the description, input schema and hints of a tool, whatever the order of their keys. A tool that changes one of
 * them may do something else than what was accepted.
 */
export function fingerprint({ description, inputSchema, annotations }: ListedTool): string {
  const claims = canonicalJson([description ?? null, inputSchema ?? null, annotations ?? null]);
  return createHash("sha256").update(claims).digest("hex");
}

/** One tool that differs from what was accepted, or the instructions of a server that do. */
export interface McpToolChange {
  readonly server: string;
  /** Set where it is about the server's instructions, which then are the descriptions. */
  readonly isInstructions?: true;
  readonly accepted: ListedTool;
  readonly found: ListedTool;
}

/** Returns the tools that have changed, of those in both lists. A new or missing tool is not a change. */
export function changedTools(
  server: string,
  accepted: readonly ListedTool[],
  found: readonly ListedTool[],
): McpToolChange[] {
  const known = new Map(accepted.map((tool) => [tool.name, tool]));
  return found.flatMap((tool) => {
    const before = known.get(tool.name);
    return before && fingerprint(before) !== fingerprint(tool) ? [{ server, accepted: before, found: tool }] : [];
  });
}
