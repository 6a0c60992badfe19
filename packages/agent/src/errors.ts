import { isMarked, MarkedError } from "@toolcrib/core/internal";
import type { AdvisedOption, EndReason, PendingCall, Remedy } from "./messages.ts";

/**
 * `busy`: a turn is running, or another program holds the session · `aborted`: the caller's signal · `ended`: the turn ended for another
 * reason than `stop` (see `reason`) · `missing_key`, `missing_sdk`: set-up · `authentication`, `rate_limit`, `invalid_request`,
 * `not_found`, `server`: the service's answer · `network`: unreachable or dropped · `timeout`: no bytes in time · `bad_reply`: an
 * answer that is cut off or not in the wire format · `bad_session`: a saved session that cannot be read · `not_understood`: the
 * offline stand-in has no rule for the request · `invalid_option`: an unknown or invalid option.
 */
export type AgentErrorCode =
  | "busy"
  | "aborted"
  | "ended"
  | "missing_key"
  | "missing_sdk"
  | "authentication"
  | "rate_limit"
  | "invalid_request"
  | "not_found"
  | "server"
  | "network"
  | "timeout"
  | "bad_reply"
  | "bad_session"
  | "not_understood"
  | "invalid_option";

export interface AgentErrorOptions {
  code: AgentErrorCode;
  message: string;
  cause?: unknown;
  /** HTTP status of the service's answer. */
  status?: number;
  /** True if the same request may succeed when sent again. */
  retryable?: boolean;
  /** Milliseconds the service asked to wait. */
  retryAfterMs?: number;
  /** The reason for the end of the turn (code `ended`). */
  reason?: EndReason;
  /** The text so far. */
  text?: string;
  /** The service's words about the reason. */
  detail?: string;
  /** The calls that wait for an answer (reason `approval`). */
  pending?: readonly PendingCall[];
  /** The message in two parts, where it ends in advice. */
  remedy?: Remedy;
}

const known = ["status", "retryAfterMs", "reason", "text", "detail", "pending", "remedy"] as const;

/** Any failure of an agent or a provider; tell kinds apart by `code`. Never carries a key. */
export class AgentError extends MarkedError {
  declare readonly name: "AgentError";
  readonly code: AgentErrorCode;
  declare readonly status: number | undefined;
  readonly retryable: boolean;
  declare readonly retryAfterMs: number | undefined;
  declare readonly reason: EndReason | undefined;
  declare readonly text: string | undefined;
  declare readonly detail: string | undefined;
  declare readonly pending: readonly PendingCall[] | undefined;
  declare readonly remedy: Remedy | undefined;

  constructor(options: AgentErrorOptions) {
    super("AgentError", options.message, options.cause);
    this.code = options.code;
    this.retryable = options.retryable ?? false;
    // Unknown fields are left out, so that an error that nobody caught prints only what it has to say.
    for (const name of known) if (options[name] !== undefined) Object.assign(this, { [name]: options[name] });
  }
}

export function invalidOption(message: string): AgentError {
  return new AgentError({ code: "invalid_option", message });
}

/** Returns the message of an error that ends in advice, and its parts. */
export function advised(problem: string, advice: Remedy["advice"]): { message: string; remedy: Remedy } {
  const words = advice.map((part) => (typeof part === "string" ? part : nameOf(part)));
  return { message: [problem, words.join("")].filter(Boolean).join(" "), remedy: { problem, advice } };
}

function nameOf({ option, variable }: AdvisedOption): string {
  if (option !== "apiKey") return option;
  return variable === undefined ? "the option apiKey" : `${variable} or the option apiKey`;
}

/** Returns whether it is an AgentError of this or any other installed copy of the package. */
export function isAgentError(value: unknown): value is AgentError {
  return isMarked(value, "AgentError");
}
