import { AgentError, type AgentErrorOptions, isAgentError } from "@toolcrib/agent";
import { isObject, messageOf } from "@toolcrib/core/text";

/** An error as JSON, as engines record it: an AgentError whole, of another its name and message. */
export type PlainError = { readonly name: string; readonly message: string; readonly [key: string]: unknown };

/** Returns the error as JSON. What cannot be written as JSON is left out. */
export function toPlainError(error: unknown): PlainError {
  const message = messageOf(error);
  if (isAgentError(error)) {
    try {
      return { ...JSON.parse(JSON.stringify(error)), name: "AgentError", message };
    } catch {
      return { name: "AgentError", message, code: error.code, retryable: error.retryable };
    }
  }
  return { name: nameOf(error), message };
}

function nameOf(error: unknown): string {
  try {
    return isObject(error) && typeof error.name === "string" ? error.name : "Error";
  } catch {
    return "Error";
  }
}

/** Returns the error that was recorded, by its shape: an AgentError is one again, so that callers can ask for its code. */
export function reviveError(recorded: unknown): Error {
  if (isAgentError(recorded)) return recorded;
  if (!isObject(recorded)) return new Error(messageOf(recorded));
  const message = typeof recorded.message === "string" ? recorded.message : "An error without a message was recorded.";
  if (recorded.name === "AgentError" && typeof recorded.code === "string")
    return new AgentError({ ...(recorded as Omit<AgentErrorOptions, "message">), message });
  const error = new Error(message);
  if (typeof recorded.name === "string") error.name = recorded.name;
  return error;
}
