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
/** Words that make any name with them that of a secret. */
const secretWord = /key|token|secret|password|passwd|passphrase|credential|creds/i;
/** Names of secrets by their last word; `pass` and `pwd` only behind another word, as PASS and PWD alone are none. */
const secretEnd = /(?:auth|cookies?|bearer)$|(?:^|_)(?:pat|jwt|dsn)$|[a-z_]pass$|._pwd$/i;
/** Words that end as such a name does. */
const plainEnd = /(?:by|com|tres|sur|over|under)pass$/i;
/** The end of a name that says which of several secrets it is. */
const whichOne =
  /_(?:old|new|prev(?:ious)?|next|current|prod(?:uction)?|dev(?:elopment)?|test|staging|live|sandbox|backup|main|primary|secondary|alt|default|ro|rw)$/i;

/** Returns whether a variable, or a part of an address, holds a secret by its name alone: `PAT1`, `MYSQL_PWD_2`, `DB_PASS_OLD`. */
function namesSecret(name: string): boolean {
  const words = name.replace(/([a-z])([A-Z])/g, "$1_$2").split(/[^A-Za-z]+/);
  let plain = words.filter(Boolean).join("_");
  while (whichOne.test(plain)) plain = plain.replace(whichOne, "");
  return secretWord.test(plain) || (secretEnd.test(plain) && !plainEnd.test(plain));
}
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
    namesSecret(name) ||
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
