import { AgentError, type AgentErrorCode, isAgentError } from "../errors.ts";
import type { StopReason } from "../messages.ts";
import { redact } from "./redact.ts";
import { isRecord } from "./wireText.ts";

/** What errors need to know about the service behind a provider. */
export interface Service {
  /** The provider's name. */
  readonly name: string;
  /** For sentences: `OpenAI`. */
  readonly label: string;
  readonly model: string;
  /** Undefined: the SDK's default. */
  readonly baseURL: string | undefined;
  /** The variable that holds the key. */
  readonly keyVariable: string | undefined;
  readonly secrets: readonly string[];
}

const longestDetail = 500;

/** An answer that is not of the wire format; sending the request again may give a whole one. */
export function badReply(service: Service, problem: string, cause?: unknown): AgentError {
  const message = redact(`The answer of ${within(service)} ${problem}`, service.secrets);
  return new AgentError({ code: "bad_reply", message, retryable: true, ...causeOf(cause, service) });
}

/** An answer of another kind (a web page, say): the address is wrong, so sending it again is no use. */
export function wrongKind(service: Service, kind: string): AgentError {
  const where = service.baseURL === undefined ? "" : ` (${service.baseURL})`;
  const message = `${service.label} answered with ${kind} instead of a reply of its API. Check baseURL${where}.`;
  return new AgentError({ code: "bad_reply", message: redact(message, service.secrets) });
}

/** The error that a service reports inside an answer: its `{ type, code, message }`. */
export function serviceFault(body: unknown): Error {
  const message = isRecord(body) && typeof body.message === "string" ? body.message : "no reason given";
  return Object.assign(new Error(message), { error: body });
}

/**
 * Any failure of a request as a typed error: what happened, and the remedy. Never carries a key. `reading`: the answer had
 * begun, so a TypeError means that a part the wire format promises was not there.
 */
export function toAgentError(error: unknown, service: Service, reading = false): AgentError {
  if (isAgentError(error)) return error;
  const failure = describe(error);
  if (failure.status !== undefined) return answerError(failure, failure.status, error, service);
  if (failure.name === "APIConnectionTimeoutError") {
    return make(
      "timeout",
      `${service.label} did not answer in time`,
      "Check the connection, or raise timeoutMs.",
      true,
    );
  }
  if (error instanceof SyntaxError) return badReply(service, "held a broken chunk: its JSON is not valid.", error);
  if (failure.name === "APIConnectionError" || isDropped(failure)) return networkError(failure, error, service);
  if (reading && error instanceof TypeError) return badReply(service, "held a chunk of another shape.", error);
  if (failure.code === "ERR_INVALID_URL")
    return make(
      "invalid_option",
      `The address of ${within(service)} is no URL: ${service.baseURL}`,
      "Check baseURL.",
      false,
    );
  return make(
    "invalid_request",
    `The request to ${within(service)} failed: ${failure.message}`,
    "Check the options of the provider.",
    false,
  );

  function make(code: AgentErrorCode, what: string, remedy: string, retryable: boolean): AgentError {
    const message = redact(`${what}.${remedy && ` ${remedy}`}`, service.secrets);
    return new AgentError({ code, message, retryable, ...causeOf(error, service) });
  }
}

/** How a refusal of the service that is really an end of the turn ends it; undefined for a true failure. */
export function endOf(error: unknown): StopReason | undefined {
  if (isAgentError(error)) return undefined;
  const { status, code, message } = describe(error);
  if (status === 413) return "context-limit";
  if (status !== 400 && status !== 422) return undefined;
  if (code === "context_length_exceeded" || contextMessage.test(message)) return "context-limit";
  return code === "content_filter" ? "content-filter" : undefined;
}

const contextMessage =
  /context[ _](?:length|window|size)|maximum context|prompt is too long|input is too long|exceeds? the (?:available )?context/i;

interface Failure {
  readonly name: string;
  readonly message: string;
  /** The service's word for it, else the system's (`ECONNREFUSED`). */
  readonly code: string;
  /** Of the answer, or what the code of an error in mid-stream amounts to. */
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
}

function describe(error: unknown): Failure {
  const fields = isRecord(error) ? error : {};
  const body = bodyOf(fields);
  const code = [body.code, body.type, fields.code].find((word) => typeof word === "string") ?? systemCode(error) ?? "";
  const status = typeof fields.status === "number" ? fields.status : statusOfCode(body);
  const message =
    typeof body.message === "string" ? body.message : error instanceof Error ? error.message : String(error);
  return {
    name: error instanceof Error ? error.constructor.name : "",
    message: message.length > longestDetail ? `${message.slice(0, longestDetail)}…` : message,
    code,
    status,
    headers: fields.headers instanceof Headers ? fields.headers : undefined,
  };
}

/** The `{ type, code, message }` of an answer; Anthropic nests it once more. */
function bodyOf(fields: Record<string, unknown>): Record<string, unknown> {
  const outer = isRecord(fields.error) ? fields.error : {};
  return isRecord(outer.error) ? outer.error : outer;
}

function statusOfCode(body: Record<string, unknown>): number | undefined {
  if (typeof body.code === "number" && body.code >= 400) return body.code;
  const word = [body.code, body.type].filter((part) => typeof part === "string").join(" ");
  if (/rate_limit/.test(word)) return 429;
  if (/insufficient_quota|billing/.test(word)) return 402;
  if (/authentication/.test(word)) return 401;
  if (/permission/.test(word)) return 403;
  if (/not_found/.test(word)) return 404;
  if (/invalid|context_length|content_filter|policy|image/.test(word)) return 400;
  return /\w/.test(word) || typeof body.message === "string" ? 500 : undefined;
}

function answerError(failure: Failure, status: number, error: unknown, service: Service): AgentError {
  const { code, retryable, remedy } = verdict(failure, status, service);
  const advised = failure.headers?.get("x-should-retry");
  const wait = retryAfterMs(failure.headers);
  return new AgentError({
    code,
    status,
    message: redact(
      `${service.label} ${verb(code)} (${status}): ${sentence(failure.message)} ${remedy}`,
      service.secrets,
    ),
    retryable: advised === "true" || (retryable && advised !== "false"),
    ...(wait !== undefined && { retryAfterMs: wait }),
    ...causeOf(error, service),
  });
}

interface Verdict {
  readonly code: AgentErrorCode;
  readonly retryable: boolean;
  readonly remedy: string;
}

function verdict(failure: Failure, status: number, service: Service): Verdict {
  const key = service.keyVariable ? `${service.keyVariable} or the option apiKey` : "the option apiKey";
  const noCredit = {
    code: "rate_limit",
    retryable: false,
    remedy: "Add credit to the account, or use another model.",
  } as const;
  if (failure.code === "insufficient_quota") return noCredit;
  switch (status) {
    case 401:
      return { code: "authentication", retryable: false, remedy: `Check ${key}.` };
    case 402:
      return noCredit;
    case 403:
      return { code: "authentication", retryable: false, remedy: `Check what the key may do (${key}).` };
    case 404: {
      const remedy = `Check the model name (${service.model}) and baseURL${service.baseURL ? ` (${service.baseURL})` : ""}.`;
      return { code: "not_found", retryable: false, remedy };
    }
    case 429:
      return { code: "rate_limit", retryable: true, remedy: "Wait and try again, or use another model." };
    case 408:
      return { code: "timeout", retryable: true, remedy: "Try again." };
    case 409:
      return { code: "server", retryable: true, remedy: "Try again." };
    default:
      return status >= 500
        ? { code: "server", retryable: true, remedy: "Try again later." }
        : { code: "invalid_request", retryable: false, remedy: "Check the model and the options of the provider." };
  }
}

function verb(code: AgentErrorCode): string {
  if (code === "authentication") return "refused the API key";
  if (code === "rate_limit") return "limits the rate";
  if (code === "not_found") return "does not know the model or address";
  return code === "invalid_request" ? "refused the request" : "failed";
}

function sentence(text: string): string {
  const plain =
    text
      .replace(/^\d{3} /, "")
      .replace(/\s+/g, " ")
      .trim() || "no reason given";
  return /[.!?…]$/.test(plain) ? plain : `${plain}.`;
}

function networkError(failure: Failure, error: unknown, service: Service): AgentError {
  const where = service.baseURL ? ` at ${service.baseURL}` : "";
  const unreachable = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/.test(failure.code);
  const why = failure.code || failure.message;
  const message = unreachable
    ? `Cannot reach ${within(service)}${where} (${why}). Check that it runs there, baseURL and the network.`
    : `The connection to ${within(service)}${where} was lost (${why}). Try again.`;
  const retryable = !/CERT|SSL|TLS/.test(failure.code);
  return new AgentError({
    code: "network",
    message: redact(message, service.secrets),
    retryable,
    ...causeOf(error, service),
  });
}

function isDropped(failure: Failure): boolean {
  return (
    /^(?:E[A-Z]{3,}|UND_ERR_\w+)$/.test(failure.code) || /terminated|fetch failed|premature/i.test(failure.message)
  );
}

/** The `code` of a system error, however deep a client wrapped it. */
function systemCode(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > 5) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === "string" && /^[A-Z][A-Z0-9_]+$/.test(code)) return code;
  return systemCode(error instanceof AggregateError ? error.errors[0] : error.cause, depth + 1);
}

/** Milliseconds to wait, from `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfterMs(headers: Headers | undefined, now: number = Date.now()): number | undefined {
  const exact = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (exact >= 0) return exact;
  const value = headers?.get("retry-after")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** A cause without what an SDK's error carries along (headers, the body with an echoed key). */
function causeOf(error: unknown, service: Service): { cause?: Error } {
  if (!(error instanceof Error)) return {};
  const cause = new Error(redact(error.message, service.secrets));
  cause.name = error.constructor.name;
  return { cause };
}

/** The label within a sentence: "the model server", "OpenAI". */
function within({ label }: Service): string {
  return label.replace(/^The /, "the ");
}
