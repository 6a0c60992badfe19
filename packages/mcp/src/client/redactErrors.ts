import { attempt } from "@toolcrib/core/internal";
import { headerSecrets, isSecret, redacted, redactUrls, secretForms, withoutSecrets } from "@toolcrib/kit/text";
import type { ResolvedServer } from "./serverConfig.ts";

/** A text without the secrets of one server's entry. */
export type Redact = (text: string) => string;

/** Shorter values occur in any text by chance. */
const shortestSecret = 6;
const maxCauses = 5;

/**
 * Makes a function for the errors of a server and what it writes to standard error: both may repeat the secrets that it was given.
 * `more` are those that it got since.
 */
export function createRedact(target: ResolvedServer, more: () => readonly string[] = () => []): Redact {
  const isHeld = (name: string, value: string): boolean =>
    target.kind === "url" || soundsSecret.test(name) || isSecret(name, value);
  const secrets = secretsOf(target, isHeld);
  return (text) => redactUrls(withoutSecrets(text, [...formsOf(more()), ...secrets]));
}

function formsOf(secrets: readonly string[]): string[] {
  return secretForms(secrets.filter((secret) => secret.length >= shortestSecret));
}

/** In an error a value is left out in doubt. */
const soundsSecret = /key|token|secret|pass|credential|auth/i;
/** A variable or a part of an address that holds a secret, whatever its value. */
const namesSecret =
  /key|token|secret|password|passwd|passphrase|credential|creds|(?:auth|cookies?|bearer|.pass|._pwd|(?<![a-z])(?:pat|jwt|dsn))_?\d*$/i;
/** Words that end as such a name does. */
const plainName = /(?:by|com|tres|sur|over|under)pass_?\d*$/i;
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
    (namesSecret.test(name) && !plainName.test(name)) ||
    (isSecret(name, value) && !plainWord.test(value)) ||
    (target.kind === "url" && likeKey.test(value));
  const secrets = secretsOf(target, isHeld);
  return (text) => withoutSecrets(text, [...formsOf(more()), ...secrets]).replace(loginInAddress, `$1${redacted}@`);
}

const loginInAddress = /\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#"'<>@]{1,500}@/gi;

/** Returns the secrets of an entry in all their forms: the values that are held for one, passwords in addresses, and what headers hold. */
function secretsOf(target: ResolvedServer, isHeld: (name: string, value: string) => boolean): string[] {
  const [given, headers] =
    target.kind === "command" ? [Object.entries(target.env), {}] : [[...target.url.searchParams], target.headers];
  const held = given.flatMap(([name, value]) => (isHeld(name, value) ? [value] : []));
  const passwords = given.map(([, value]) => attempt(() => decodeURIComponent(URL.parse(value)?.password ?? "")) ?? "");
  return formsOf([...held, ...passwords, ...Object.entries(headers).flatMap((one) => headerSecrets(...one))]);
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
