import { AgentError, type AgentErrorOptions, isAgentError } from "@toolcrib/agent";
import { attempt } from "@toolcrib/core/internal";
import { isObject, messageOf } from "@toolcrib/core/text";

/** An error as JSON, as engines record it: an AgentError whole, of another its name and message. */
export type PlainError = { readonly name: string; readonly message: string; readonly [key: string]: unknown };

/** Returns the error as JSON. What cannot be written as JSON is left out. */
export function toPlainError(error: unknown): PlainError {
  const message = messageOf(error);
  if (isAgentError(error)) {
    const { code, retryable } = error;
    return {
      ...(attempt(() => JSON.parse(JSON.stringify(error))) ?? { code, retryable }),
      name: "AgentError",
      message,
    };
  }
  const name = attempt(() => (isObject(error) ? error.name : undefined));
  return { name: typeof name === "string" ? name : "Error", message };
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
