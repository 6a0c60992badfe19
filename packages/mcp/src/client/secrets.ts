import { redactUrls } from "@toolcrib/core/text";
import type { ResolvedServer } from "./serverConfig.ts";

/** A text without the secrets of one server's entry. */
export type Redact = (text: string) => string;

const mark = "[redacted]";
/** Shorter values are words of any text. */
const shortestSecret = 6;
const secretName = /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH/i;
const mostCauses = 5;

/** For what leaves the package of a server: its errors, and what it writes to standard error, may repeat what it was given. */
export function createRedact(target: ResolvedServer): Redact {
  const secrets = [...new Set(secretsOf(target))]
    .filter((secret) => secret.length >= shortestSecret)
    .sort((a, b) => b.length - a.length);
  return (text) => redactUrls(secrets.reduce((rest, secret) => rest.replaceAll(secret, mark), text));
}

function secretsOf(target: ResolvedServer): string[] {
  if (target.kind === "command") {
    return Object.entries(target.env).flatMap(([name, value]) => (secretName.test(name) ? [value] : []));
  }
  const headers = Object.values(target.headers).flatMap((value) => [
    value,
    value.replace(/^\w+\s+/, ""),
    passwordOf(value),
  ]);
  const queries = [...target.url.searchParams.values()].flatMap((value) => [value, encodeURIComponent(value)]);
  return [...headers, ...queries];
}

/** The password in a value of the header Authorization; empty where there is none. */
function passwordOf(value: string): string {
  const [, pair = ""] = /^Basic\s+(\S+)$/i.exec(value) ?? [];
  return Buffer.from(pair, "base64")
    .toString("utf8")
    .replace(/^[^:]*:?/, "");
}

/** An error with what is known to be safe of it: its kind and its texts, without secrets. */
export function redactError(error: unknown, redact: Redact, depth = 0): unknown {
  if (typeof error === "string") return redact(error);
  if (typeof error !== "object" || error === null) return error;
  const { name, message, stack, code, status, cause } = error as Record<string, unknown>;
  if (typeof message !== "string") return undefined;
  const copy = new Error(redact(message));
  if (typeof name === "string") copy.name = name;
  if (typeof stack === "string") copy.stack = redact(stack);
  if (typeof code === "string" || typeof code === "number") Object.assign(copy, { code });
  if (typeof status === "number") Object.assign(copy, { status });
  if (cause !== undefined && depth < mostCauses) copy.cause = redactError(cause, redact, depth + 1);
  return copy;
}
