import { type OptionSpecs, option, readOptions, withDefault } from "@toolcrib/core/internal";
import { limitBytes } from "@toolcrib/core/text";
import type { Session } from "../session/session.ts";
import { fromSession } from "./readTranscript.ts";
import { createCleaner } from "./redactTranscript.ts";
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
