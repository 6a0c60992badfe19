import { headerSecrets, redactUrls, secretForms, withoutSecrets } from "@toolcrib/kit/text";
import type { ResolvedServer } from "./serverConfig.ts";

/** A text without the secrets of one server's entry. */
export type Redact = (text: string) => string;

/** Shorter values occur in any text by chance. */
const shortestSecret = 6;
const secretName = /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH/i;
const maxCauses = 5;

/**
 * Makes a function for the errors of a server and what it writes to standard error: both may repeat the secrets that it was given.
 * `more` are those that it got since.
 */
export function createRedact(target: ResolvedServer, more: () => readonly string[] = () => []): Redact {
  const forms = (secrets: readonly string[]): string[] =>
    secretForms(secrets.filter((secret) => secret.length >= shortestSecret));
  const secrets = forms(secretsOf(target));
  return (text) => redactUrls(withoutSecrets(text, [...forms(more()), ...secrets]));
}

function secretsOf(target: ResolvedServer): string[] {
  if (target.kind === "command") {
    return Object.entries(target.env).flatMap(([name, value]) => (secretName.test(name) ? [value] : []));
  }
  const headers = Object.entries(target.headers).flatMap(([name, value]) => headerSecrets(name, value));
  return [...headers, ...target.url.searchParams.values()];
}

/** Returns a copy of an error with nothing but its name, texts and codes, without secrets. */
export function redactError(error: unknown, redact: Redact, depth = 0): unknown {
  if (typeof error === "string") return redact(error);
  if (typeof error !== "object" || error === null) return error;
  const { name, message, stack, code, status, cause }: Record<string, unknown> = Object(error);
  if (typeof message !== "string") return undefined;
  const copy = new Error(redact(message));
  if (typeof name === "string") copy.name = name;
  if (typeof stack === "string") copy.stack = redact(stack);
  if (typeof code === "string" || typeof code === "number") Object.assign(copy, { code });
  if (typeof status === "number") Object.assign(copy, { status });
  if (cause !== undefined && depth < maxCauses) copy.cause = redactError(cause, redact, depth + 1);
  return copy;
}
