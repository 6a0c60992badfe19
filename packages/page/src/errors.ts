import { type AgentErrorCode, isAgentError } from "@toolcrib/agent";
import type { PageOptions } from "./sessions.ts";

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

/** Words an error for the user of a page, and logs it if it has no words of its own. Never throws. */
export function explain(error: unknown, { options }: { readonly options: Pick<PageOptions, "explain"> }): string {
  const logged = (one: unknown): string => {
    console.error(one);
    return "Something went wrong on the server. Its log has the details.";
  };
  try {
    return options.explain?.(error) ?? toldWords(error) ?? logged(error);
  } catch (failure) {
    logged(failure);
    return logged(error);
  }
}
