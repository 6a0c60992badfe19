import { createHash } from "node:crypto";
import { canonicalJson, withoutClock } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import type { ListedTool } from "../mapping.ts";

/**
 * Returns a digest of the description, input schema and hints of a tool, whatever the order of their keys. A tool that changes one of
 * them may do something else than what was accepted.
 */
export function fingerprint({ description, inputSchema, annotations }: ListedTool): string {
  const claims = canonicalJson([description ?? null, countedSchema(inputSchema), annotations ?? null]);
  return createHash("sha256").update(claims).digest("hex");
}

/** Returns a schema as it counts in the fingerprint: a default or example that is a date, a time or a number by its type alone. */
export function countedSchema(inputSchema: unknown): unknown {
  return isObject(inputSchema) ? withoutClock(inputSchema) : (inputSchema ?? null);
}

/** One tool that differs from what was accepted or is new, or the instructions of a server that do. */
export interface McpToolChange {
  readonly server: string;
  /** Set where it is about the server's instructions, which then are the descriptions. */
  readonly isInstructions?: true;
  /** Undefined for a tool that is new since the server was mounted. */
  readonly accepted: ListedTool | undefined;
  readonly found: ListedTool;
}

/** Returns the tools that have changed, of those in both lists, and with `withNew` those that were not there. A missing tool is no change. */
export function changedTools(
  server: string,
  accepted: readonly ListedTool[],
  found: readonly ListedTool[],
  withNew = false,
): McpToolChange[] {
  const known = new Map(accepted.map((tool) => [tool.name, tool]));
  return found.flatMap((tool) => {
    const before = known.get(tool.name);
    const isChange = before ? fingerprint(before) !== fingerprint(tool) : withNew;
    return isChange ? [{ server, accepted: before, found: tool }] : [];
  });
}
