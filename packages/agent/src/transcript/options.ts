import { type OptionSpecs, option, readOptions, withDefault } from "@toolcrib/core/internal";
import { limitBytes, withoutControls } from "@toolcrib/core/text";
import { isSecret, redacted, secretForms, withoutSecrets } from "@toolcrib/kit/text";
import type { Session } from "../session/session.ts";
import { fromSession } from "./readTranscript.ts";
import type { Transcript } from "./transcript.ts";

export interface TranscriptOptions {
  /** Values that must not be in it, in any form: keys of the services, say. What looks like a secret is left out without being named here. */
  secrets?: readonly string[] | undefined;
  /** Its title. Default: the session's name, else the first line of the first message. */
  title?: string | undefined;
  /** Most bytes of one argument or result; `Infinity` for no limit. Default: 100 KB. */
  maxTextBytes?: number | undefined;
}

/** A transcript ready to be written, without secrets and control characters, and what belongs to it. */
export interface Prepared {
  readonly transcript: Transcript;
  readonly title: string;
  /** A text cut to the limit, with a notice. */
  readonly cut: (text: string) => string;
}

const noSecrets: readonly string[] = [];

const specs = {
  secrets: withDefault(option.texts, noSecrets),
  title: option.text,
  maxTextBytes: withDefault(option.bytes, 100 * 1024),
} satisfies OptionSpecs<TranscriptOptions>;

const longestTitle = 120;

/** Throws a TypeError for invalid options. */
export function prepare(owner: string, session: Transcript | Session, options: TranscriptOptions): Prepared {
  const { secrets, title, maxTextBytes } = readOptions(owner, options, specs);
  const clean = createCleaner(secrets);
  const transcript = clean("turns" in session ? session : fromSession(session));
  return {
    transcript,
    title: (title && clean(title)) ?? transcript.name ?? topicOf(transcript),
    cut: (text) => limitBytes(text, maxTextBytes),
  };
}

function topicOf({ turns }: Transcript): string {
  const first = turns[0]?.user.find((block) => block.type === "text");
  const line = first?.type === "text" ? (first.text.trim().split("\n", 1)[0] ?? "") : "";
  return line.slice(0, longestTitle) || "A conversation";
}

/** Words long enough to be a key, with what is around them in an assignment or an address. */
const longWord = /[^\s"'`,;<>()[\]{}|]{12,}/g;
/** As environments are printed. */
const assignment = /^(\s*(?:export |declare -x )?)([A-Z][A-Z0-9_]{1,80})=(\S.*)$/gm;
const keyStart = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g;
const keyEnd = /-----END [A-Z ]{0,40}PRIVATE KEY-----/g;

/**
 * Creates a function that returns a value without `secrets` (in every form), without what looks like one (keys by their form, private keys,
 * values of variables and arguments with names such as TOKEN or password), and without control characters. Those go first: within a secret
 * they would hide it, and within `<` and a name, or a run of backticks, they would hide markup.
 */
function createCleaner(secrets: readonly string[]): <T>(value: T) => T {
  const forms = secretForms(secrets.flatMap((secret) => [secret, plainOf(secret)]).filter((secret) => secret !== ""));
  const redact = (text: string): string => withoutSecrets(withoutLikely(text), forms);
  const clean = (text: string): string => {
    const plain = plainOf(text);
    const bare = redact(plain);
    // What takes no room belongs to some scripts and pictures, so it stays where it hides nothing.
    return bare === plain ? redact(withoutControls(text)) : bare;
  };
  return (value) => cleanValue(value, clean);
}

/** Returns text without any character that takes no room. */
function plainOf(text: string): string {
  return withoutControls(text).replace(/\p{Default_Ignorable_Code_Point}/gu, "");
}

/** Base64 of a picture: a key by its form would be found there by chance. */
const kept: ReadonlySet<string> = new Set(["data"]);

function cleanValue<T>(value: T, clean: (text: string) => string): T;
function cleanValue(value: unknown, clean: (text: string) => string, name?: string, inArguments?: boolean): unknown;
function cleanValue(value: unknown, clean: (text: string) => string, name = "", inArguments = false): unknown {
  if (typeof value === "string") {
    if (kept.has(name) && !inArguments) return value;
    return inArguments && isSecret(name, "") && value !== "" ? redacted : clean(value);
  }
  if (Array.isArray(value)) return value.map((item) => cleanValue(item, clean, name, inArguments));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => {
    return [inArguments ? clean(key) : key, cleanValue(item, clean, key, inArguments || key === "args")];
  });
  return Object.fromEntries(entries);
}

function withoutLikely(text: string): string {
  return withoutPrivateKeys(text)
    .replace(assignment, (whole, before: string, name: string, value: string) =>
      isSecret(name, value) ? `${before}${name}=${redacted}` : whole,
    )
    .replace(longWord, (word) => (isSecret("", word) ? redacted : word));
}

function withoutPrivateKeys(text: string): string {
  let clean = "";
  let from = 0;
  for (const { index } of text.matchAll(keyStart)) {
    if (index < from) continue;
    keyEnd.lastIndex = index;
    const end = keyEnd.exec(text);
    clean += text.slice(from, index) + redacted;
    from = end ? end.index + end[0].length : text.length;
  }
  return clean + text.slice(from);
}
