// Tells apart tools that run elsewhere: by the names of a mounted server's tools, and by the origin of a remote's.

import { withLegalCharacters } from "@toolcrib/core/internal";

/** Returns the beginning of the names of a mounted MCP server's tools; room is left for the name of the tool. */
export function serverPrefix(server: string): string {
  return `mcp__${withLegalCharacters(server).slice(0, 24)}__`;
}

/** Returns the origin of a tool that works on a remote: an approval here does not cover a call there. */
export function originIn(remote: string, origin: string): string {
  return `${remote}: ${origin}`;
}

/** Returns the origin that `originIn` was given; undefined for a tool of another remote. */
export function originWithin(remote: string, origin: string): string | undefined {
  const prefix = originIn(remote, "");
  return origin.startsWith(prefix) ? origin.slice(prefix.length) : undefined;
}
