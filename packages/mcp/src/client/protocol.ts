import type { VersionNegotiationOptions } from "@modelcontextprotocol/client";

/** The protocol revisions that are offered to a server: `legacy` up to 2025-11-25, `auto` also newer ones. */
export type Protocol = NonNullable<VersionNegotiationOptions["mode"]>;

export const protocolForms = "auto, legacy, or the date of a revision such as 2026-07-28";

/** Reads a choice of protocol revisions; undefined without one, null for anything else. */
export function readProtocol(given: unknown): Protocol | undefined | null {
  if (given === undefined || given === "auto" || given === "legacy") return given;
  if (typeof given !== "string" || !/^20\d\d-\d\d-\d\d$/.test(given)) return null;
  return given < "2026" ? "legacy" : { pin: given };
}
