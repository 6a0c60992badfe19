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

export function invalidRequest(message: string): RequestError {
  return new RequestError(-32600, message);
}

export function sessionNotFound(sessionId: string): RequestError {
  const message = `There is no session ${clip(withoutControls(sessionId), 80)} open; open it with session/load`;
  return new RequestError(-32002, message, { sessionId });
}
