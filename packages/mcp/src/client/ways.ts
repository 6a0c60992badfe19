import { isObject } from "@toolcrib/core/text";
import type { Protocol } from "./protocol.ts";
import type { ResolvedServer } from "./serverConfig.ts";

/** A way to speak with a server. */
export interface Way {
  readonly protocol: Protocol;
  /** True for the transport of 2024. */
  readonly sse: boolean;
}

/** Returns the first way to try. `given` is the user's choice for all servers. */
export function firstWay(target: ResolvedServer, given: Protocol | undefined): Way {
  return { protocol: target.protocol ?? given ?? "legacy", sse: target.kind === "url" && target.sse === true };
}

/** Returns other ways to try after the first has failed, by what the server answered. */
export function otherWays(target: ResolvedServer, given: Protocol | undefined, cause: unknown): Way[] {
  const { code, status, message, data } = isObject(cause) ? cause : {};
  const chosen = target.protocol ?? given;
  const { sse } = firstWay(target, given);
  const ways: Way[] = [];
  // A server that speaks newer revisions only refuses `initialize`.
  if (chosen === undefined && (refusing.test(String(code)) || tellsRefusal.test(`${message} ${JSON.stringify(data)}`)))
    ways.push({ protocol: "auto", sse });
  // Some servers end at any request before the first that they know.
  if (chosen === "auto" && target.kind === "command" && code === "ERA_NEGOTIATION_FAILED")
    ways.push({ protocol: "legacy", sse });
  if (target.kind === "url" && target.sse === undefined && [400, 404, 405].includes(Number(status)))
    ways.push({ protocol: "legacy", sse: true });
  return ways;
}

/** The codes of a server that does not know the method, or not the revision. */
const refusing = /^-32(?:02\d|60[012])$/;
/** The same in the text of an answer over HTTP, and a newer revision beside what says that it is one: other dates stand in errors, too. */
const tellsRefusal =
  /"code"\s*:\s*-32(?:02\d|60[012])\b|(?:protocol|revision|mcp|supported.?versions).{0,100}\b20(?:2[6-9]|[3-9]\d)-\d\d-\d\d\b/is;
