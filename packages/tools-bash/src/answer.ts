import { toolOutput } from "@toolcrib/core";

/** Returns the answer of a tool, as JSON text and as data. */
export function jsonOutput(shown: Record<string, unknown>, data: Record<string, unknown> = shown): string {
  return toolOutput(JSON.stringify(shown), { data });
}
