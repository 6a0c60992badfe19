import { attempt } from "@toolcrib/core/internal";
import { headerSecrets, isSecret, redacted, redactUrls, secretForms, withoutSecrets } from "@toolcrib/kit/text";
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
  const secrets = formsOf(secretsOf(target));
  return (text) => redactUrls(withoutSecrets(text, [...formsOf(more()), ...secrets]));
}

function formsOf(secrets: readonly string[]): string[] {
  return secretForms(secrets.filter((secret) => secret.length >= shortestSecret));
}

/** A variable or a part of an address that holds a secret, whatever its value. */
const namesSecret = /key|token|secret|password|credential/i;
/** A number or a plain word: it occurs in what a server says, and is a secret only by its name. */
const plainWord = /^(?:[\d.,:_-]+|[\p{L}\p{M}_-]+)$/u;
/** Letters and digits as a key has them. */
const likeKey = /^(?=.*\d)(?=.*[A-Za-z])[\w+/=~-]{16,}$/;

/**
 * Makes a function for what a server says on purpose, which is for the model to act on: it loses the secrets of the entry, its headers, and
 * passwords in addresses. Other addresses keep their query and fragment.
 */
export function createWordsRedact(target: ResolvedServer, more: () => readonly string[] = () => []): Redact {
  const isHeld = (name: string, value: string): boolean =>
    namesSecret.test(name) ||
    (isSecret(name, value) && !plainWord.test(value)) ||
    (target.kind === "url" && likeKey.test(value));
  const given = target.kind === "command" ? Object.entries(target.env) : [...target.url.searchParams];
  const headers =
    target.kind === "command" ? [] : Object.entries(target.headers).flatMap((one) => headerSecrets(...one));
  const passwords = given.map(([, value]) => attempt(() => decodeURIComponent(URL.parse(value)?.password ?? "")) ?? "");
  const held = given.flatMap(([name, value]) => (isHeld(name, value) ? [value] : []));
  const secrets = formsOf([...held, ...passwords, ...headers]);
  return (text) => withoutSecrets(text, [...formsOf(more()), ...secrets]).replace(loginInAddress, `$1${redacted}@`);
}

const loginInAddress = /\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#"'<>@]{1,500}@/gi;

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
