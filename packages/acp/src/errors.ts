import { RequestError } from "@agentclientprotocol/sdk";
import { isAgentError } from "@toolcrib/agent";
import { clip, messageOf, withoutControls } from "@toolcrib/core/text";

const longestMessage = 4000;

/** Turns an error into words for the user. */
export type Explain = (error: unknown) => string;

/** Converts an error to the protocol's: its own words, and a code. */
export function toRequestError(error: unknown, explain: Explain = messageOf): RequestError {
  if (error instanceof RequestError) return error;
  const message = clip(withoutControls(explain(error)), longestMessage);
  const isRequest = isAgentError(error) && (error.code === "invalid_request" || error.code === "busy");
  return new RequestError(isRequest ? -32600 : -32603, message);
}

export function invalidParams(message: string): RequestError {
  return new RequestError(-32602, message);
}

/** Refuses what cannot be done while a turn runs. */
export function turnRuns(next: string): RequestError {
  return new RequestError(-32600, `A turn runs in this session; ${next}`);
}

export function sessionNotFound(sessionId: string): RequestError {
  return notFound(sessionId, (id) => `There is no session ${id} open; open it with session/load`);
}

/** Refuses to open a session again that there is none of, or none any more. */
export function nothingToOpen(sessionId: string): RequestError {
  return notFound(
    sessionId,
    (id) => `There is no session ${id} to open again; session/list names those of a directory`,
  );
}

function notFound(sessionId: string, say: (id: string) => string): RequestError {
  return new RequestError(-32002, say(clip(withoutControls(sessionId), 80)), { sessionId });
}
