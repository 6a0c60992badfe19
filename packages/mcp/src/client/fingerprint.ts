import { createHash } from "node:crypto";
import type { ListedTool } from "../mapping.ts";

/**
 * A digest of what a tool claims to be: its description, input schema and hints, whatever the order of their keys. A server
 * that changes one of them after it was looked at may be about to do something else than it was accepted for.
 */
export function fingerprint({ description, inputSchema, annotations }: ListedTool): string {
  const claims = JSON.stringify([description ?? null, sorted(inputSchema ?? null), sorted(annotations ?? null)]);
  return createHash("sha256").update(claims).digest("hex");
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // Pairs under one key of ours: no key of a server's is special then, and no array looks the same.
  return { entries: entries.map(([key, item]) => [key, sorted(item)]) };
}

/** One tool that differs from what was accepted. */
export interface McpToolChange {
  readonly server: string;
  readonly accepted: ListedTool;
  readonly found: ListedTool;
}

/** The tools that are in both lists under one name and have changed. New and missing tools are no change. */
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
