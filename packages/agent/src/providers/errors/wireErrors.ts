import { isObject } from "@toolcrib/core/text";
import { AgentError, type AgentErrorCode, advised, isAgentError } from "../../errors.ts";
import type { Remedy } from "../../messages.ts";
import { addressOf, type Service } from "../models/address.ts";
import { describeFailure, type Failure } from "./describeFailure.ts";
import { unusedProxy } from "./proxies.ts";
import { redact } from "./redact.ts";
import { verdict } from "./verdict.ts";

export type { Service } from "../models/address.ts";

/** Returns an answer that is not of the wire format; sending the request again may give a whole one. */
export function badReply(service: Service, problem: string, cause?: unknown): AgentError {
  const message = redact(`The answer of ${within(service)} ${problem}`, service.secrets);
  return new AgentError({ code: "bad_reply", message, retryable: true, ...causeOf(cause, service) });
}

/** Returns an answer of another kind, such as a web page: the address is wrong, so a retry would not help. */
export function wrongKind(service: Service, kind: string): AgentError {
  const where = addressOf(service, " (", ")");
  const problem = `${service.label} answered with ${kind} instead of a reply of its API.`;
  return new AgentError({ code: "bad_reply", ...redacted(problem, ["Check ", baseURL, `${where}.`], service) });
}

/** Returns the error that a service reports inside an answer: its `{ type, code, message }`. */
export function serviceFault(body: unknown): Error {
  const message = isObject(body) && typeof body.message === "string" ? body.message : "no reason given";
  return Object.assign(new Error(message), { error: body });
}

/** Converts any failure to a typed error without keys. `reading`: within an answer, where a TypeError means that a part is missing. */
export function toAgentError(error: unknown, service: Service, reading = false): AgentError {
  const own = agentErrorIn(error);
  if (own) return own;
  const failure = describeFailure(error);
  if (failure.status !== undefined) return answerError(failure, failure.status, error, service);
  if (failure.connection === "timed out") {
    const advice = ["Check the connection, or raise the timeout of the client."];
    return make("timeout", `${service.label} did not answer in time.`, advice, true);
  }
  if (nameOf(error) === "SyntaxError")
    return badReply(service, "contained a broken chunk: its JSON is not valid.", error);
  if (failure.connection === "failed" || isDropped(failure)) return networkError(failure, error, service);
  if (reading && nameOf(error) === "TypeError")
    return badReply(service, "contained a chunk with an unexpected shape.", error);
  if (failure.code === "ERR_INVALID_URL")
    return make(
      "invalid_option",
      `The address of ${within(service)} is no URL${addressOf(service, ": ")}.`,
      ["Check ", baseURL, "."],
      false,
    );
  return make(
    "invalid_request",
    `The request to ${within(service)} failed: ${sentence(failure.message)}`,
    ["Check the settings of the provider."],
    false,
  );

  function make(code: AgentErrorCode, problem: string, advice: Remedy["advice"], retryable: boolean): AgentError {
    return new AgentError({ code, ...redacted(problem, advice, service), retryable, ...causeOf(error, service) });
  }
}

const baseURL = { option: "baseURL" } as const;

function redacted(problem: string, advice: Remedy["advice"], { secrets }: Service): ReturnType<typeof advised> {
  return advised(
    redact(problem, secrets),
    advice.map((part) => (typeof part === "string" ? redact(part, secrets) : part)),
  );
}

function answerError(failure: Failure, status: number, error: unknown, service: Service): AgentError {
  const { code, retryable, advice, refused = verb(code), waitMs } = verdict(failure, status, service);
  const advised = failure.headers?.get("x-should-retry");
  const wait = retryAfterMs(failure.headers) ?? waitMs;
  return new AgentError({
    code,
    status,
    ...redacted(`${service.label} ${refused} (${status}): ${sentence(failure.message)}`, advice, service),
    retryable: advised === "true" || (retryable && advised !== "false"),
    ...(wait !== undefined && { retryAfterMs: wait }),
    ...causeOf(error, service),
  });
}

/** Returns the error that our own `fetch` threw, also when an SDK wrapped it several times. */
function agentErrorIn(error: unknown, depth = 0): AgentError | undefined {
  if (isAgentError(error)) return error;
  return isObject(error) && depth < 5 ? agentErrorIn(error.cause, depth + 1) : undefined;
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
  const where = addressOf(service, " at ");
  const unreachable = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/.test(failure.code);
  const why = failure.code || failure.message;
  const proxies = unusedProxy(service.baseURL, process.env);
  const parts = unreachable
    ? redacted(
        `Cannot reach ${within(service)}${where} (${why}).`,
        ["Check that it runs there, ", baseURL, " and the network.", ...proxies],
        service,
      )
    : redacted(`The connection to ${within(service)}${where} was lost (${why}).`, ["Try again.", ...proxies], service);
  const retryable = !/CERT|SSL|TLS/.test(failure.code);
  return new AgentError({
    code: "network",
    ...parts,
    retryable,
    ...causeOf(error, service),
  });
}

function isDropped(failure: Failure): boolean {
  return (
    /^(?:E[A-Z]{3,}|UND_ERR_\w+)$/.test(failure.code) || /terminated|fetch failed|premature/i.test(failure.message)
  );
}

/** Returns milliseconds to wait, from `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfterMs(headers: Pick<Headers, "get"> | undefined, now: number = Date.now()): number | undefined {
  const exact = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (exact >= 0) return exact;
  const value = headers?.get("retry-after")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Returns the cause without the headers and body of an SDK's error, which may hold a key. */
function causeOf(error: unknown, service: Service): { cause?: Error } {
  if (!isObject(error) || typeof error.message !== "string") return {};
  const cause = new Error(redact(error.message, service.secrets));
  cause.name = redact(nameOf(error), service.secrets);
  return { cause };
}

/** Returns the name of an error. Errors of another realm are not instances of this one's classes. */
function nameOf(error: unknown): string {
  return isObject(error) && typeof error.name === "string" ? error.name : "Error";
}

/** Returns the label inside a sentence: "the model server", "OpenAI". */
function within({ label }: Service): string {
  return label.replace(/^The /, "the ");
}
