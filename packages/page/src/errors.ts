import { type AgentErrorCode, isAgentError } from "@toolcrib/agent";

/** A request that is refused: `message` says why, and is sent as text with this status. */
export class PageError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "PageError";
    this.status = status;
  }
}

/** Errors of services, which are of use to a user. The words of all others may have paths, or names of variables. */
const told: ReadonlySet<string> = new Set<AgentErrorCode>([
  ...(["aborted", "rate_limit", "invalid_request", "not_found", "server", "network", "timeout"] as const),
  ...(["bad_reply", "not_understood"] as const),
]);

/** Returns the words of an error that may be told to a user; undefined if there are none. */
export function toldWords(error: unknown): string | undefined {
  if (!isAgentError(error) || !told.has(error.code)) return undefined;
  // What a provider threw, and no service has said, is quoted in it.
  return error.code === "bad_reply" && error.cause !== undefined ? undefined : error.message;
}
