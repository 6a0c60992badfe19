import { attempt } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";

const longestDetail = 500;
const longestRead = 4000;

/** The content of an error of an SDK, a service or the system. Read by shape, because minifiers rename classes. */
export interface Failure {
  readonly message: string;
  /** The service's word for it, else the system's (`ECONNREFUSED`). */
  readonly code: string;
  /** HTTP status of the answer, or the one that fits the code of an error in mid-stream. */
  readonly status: number | undefined;
  readonly headers: Pick<Headers, "get"> | undefined;
  /** Set when an SDK threw because no answer came; such errors have no status. */
  readonly connection: "failed" | "timed out" | undefined;
}

export function describeFailure(error: unknown): Failure {
  const fields = isObject(error) ? error : {};
  const body = bodyOf(fields);
  const headers = isObject(fields.headers) ? fields.headers : {};
  const words = [body.code, body.type, fields.code];
  const code = words.find((word) => typeof word === "string") ?? systemCode(error) ?? body.code ?? "";
  const status = typeof fields.status === "number" ? fields.status : statusOfCode(body);
  const message = [body.message, fields.message].find((text) => typeof text === "string");
  return {
    message: plainText(message ?? String(error)),
    code: String(code),
    status,
    headers: typeof headers.get === "function" ? (headers as unknown as Headers) : undefined,
    connection: connectionOf(fields),
  };
}

/** All errors of the SDKs have these fields; they are undefined when there was no answer. */
const answerFields = ["status", "headers", "error"] as const;

function connectionOf(fields: Record<string, unknown>): Failure["connection"] {
  if (!answerFields.every((name) => name in fields && fields[name] === undefined)) return undefined;
  return /timed out/i.test(String(fields.message)) ? "timed out" : "failed";
}

/** Returns one line, cut to a length, and of a web page the text. */
function plainText(text: string): string {
  const read = text.slice(0, longestRead).replace(/^\d{3} /, "");
  const isPage = /^\s*<(?:!doctype|html)/i.test(read);
  const plain = (isPage ? read.replace(/<[^>]*>/g, " ") : read).replace(/\s+/g, " ").trim();
  return plain.length > longestDetail ? `${plain.slice(0, longestDetail).toWellFormed()}…` : plain;
}

/** Returns the `{ type, code, message }` of an answer; Anthropic nests it once more, and a gateway has that of the model's maker in it. */
function bodyOf(fields: Record<string, unknown>): Record<string, unknown> {
  const outer = isObject(fields.error) ? fields.error : {};
  const body = isObject(outer.error) ? outer.error : outer;
  return { ...body, ...makersOwn(body) };
}

/** Returns what OpenRouter passes on of the maker's own error, which is JSON or text. */
function makersOwn({ metadata }: Record<string, unknown>): Record<string, unknown> {
  const { raw, provider_name } = isObject(metadata) ? metadata : {};
  if (raw === undefined || raw === null || raw === "") return {};
  const answer = parsed(raw);
  const { error = answer, ...whole } = answer;
  const own = isObject(error) ? error : { message: error };
  const said = [own.message, whole.message, raw].find((text) => typeof text === "string") ?? JSON.stringify(raw);
  const message = typeof provider_name === "string" ? `${provider_name}: ${said}` : said;
  const code = [own.code, own.type, whole.code, whole.type].find((word) => typeof word === "string");
  // Beside its own number.
  return { message, ...(code !== undefined && { type: code }) };
}

function parsed(raw: unknown): Record<string, unknown> {
  const value: unknown = typeof raw === "string" ? attempt(() => JSON.parse(raw)) : raw;
  return isObject(value) ? value : {};
}

function statusOfCode(body: Record<string, unknown>): number | undefined {
  if (typeof body.code === "number" && body.code >= 400) return body.code;
  const word = [body.code, body.type].filter((part) => typeof part === "string").join(" ");
  if (/rate_limit/.test(word)) return 429;
  if (/insufficient_(?:quota|balance)|exceeded_current_quota|billing/.test(word)) return 402;
  if (/authentication/.test(word)) return 401;
  if (/permission/.test(word)) return 403;
  if (/not_found/.test(word)) return 404;
  if (/request_too_large/.test(word)) return 413;
  if (/invalid|context_length|context_size|content_filter|policy|image/.test(word)) return 400;
  return /\w/.test(word) || typeof body.message === "string" ? 500 : undefined;
}

/** Returns the `code` of a system error, also when a client wrapped it several times. */
function systemCode(error: unknown, depth = 0): string | undefined {
  if (!isObject(error) || depth > 5) return undefined;
  const { code, errors, cause } = error;
  if (typeof code === "string" && /^[A-Z][A-Z0-9_]+$/.test(code)) return code;
  return systemCode(Array.isArray(errors) ? errors[0] : cause, depth + 1);
}
