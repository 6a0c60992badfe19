import { toolOutput } from "@toolcrib/core";
import { cutHead } from "@toolcrib/core/text";
import { HeadTailBuffer, lengthOfBegun, type OutputSink, withNotes } from "./headTailBuffer.ts";
import { OutputCleaner } from "./outputCleaner.ts";
import type { SpillFile } from "./spillFile.ts";

/** The output of a stream. */
export interface StreamText {
  /** As it was printed. */
  readonly raw: string;
  /** For a reply: without escape sequences, and only the size of what is binary. */
  readonly shown: string;
}

/** Longest text that is shown of binary output. */
const longestHead = 1000;

/** Keeps one stream of a command as printed and as a reply shows it, in flat memory. No character is cut between two readings. */
export class StreamOutput implements OutputSink {
  readonly #newSpill: () => SpillFile | undefined;
  readonly #onPush: (() => void) | undefined;
  readonly #cleaner = new OutputCleaner((text) => {
    if (typeof text === "string") pushText(this.#clean, text);
    else this.#clean.push(text);
  });
  #raw: HeadTailBuffer;
  #clean = new HeadTailBuffer();
  /** The bytes of a character of which more is to come. */
  #begun: Uint8Array = new Uint8Array(0);

  /** Sends what is too long to be shown whole to a file that `newSpill` makes. Calls `onPush` when something has come. */
  constructor(newSpill: () => SpillFile | undefined = () => undefined, onPush?: () => void) {
    this.#newSpill = newSpill;
    this.#onPush = onPush;
    this.#raw = new HeadTailBuffer(undefined, newSpill());
  }

  get isEmpty(): boolean {
    return this.#raw.total === 0;
  }

  push(bytes: Uint8Array): void {
    const all = this.#begun.length > 0 ? Buffer.concat([this.#begun, bytes]) : bytes;
    const whole = all.length - lengthOfBegun(all);
    this.#begun = Uint8Array.from(all.subarray(whole));
    this.#add(all.subarray(0, whole));
    this.#onPush?.();
  }

  #add(bytes: Uint8Array): void {
    this.#raw.push(bytes);
    this.#cleaner.push(bytes);
  }

  /** Ends the output: what is not a whole character is shown as it is. */
  end(): void {
    if (this.#begun.length > 0) this.#add(this.#begun);
    this.#begun = new Uint8Array(0);
    this.#raw.close();
  }

  /** Returns the bytes as printed, of an output that has ended. */
  toString(): string {
    this.end();
    return this.#raw.toString();
  }

  /** Returns what came since the last call. */
  take(): StreamText {
    if (this.isEmpty) return { raw: "", shown: "" };
    const { isBinary } = this.#cleaner;
    this.#cleaner.flush();
    const shown = isBinary ? this.#describeBinary() : this.#clean.toSent(this.#raw);
    const raw = this.#raw.toString();
    this.#raw.close();
    this.#raw = new HeadTailBuffer(undefined, this.#newSpill());
    this.#clean = new HeadTailBuffer();
    return { raw, shown };
  }

  discard(): void {
    this.#raw.discard();
  }

  #describeBinary(): string {
    const head = /^[^\ufffd␀]*/.exec(cutHead(this.#clean.toString(), longestHead))?.[0].trimEnd() ?? "";
    return this.#raw.withNotShown(head === "" ? "" : `${head}\n`);
  }
}

const encoder = new TextEncoder();
const scratch = new Uint8Array(16 * 1024);

/** Pushes text through the same memory each time: a buffer for each text would be much garbage. */
function pushText(to: HeadTailBuffer, text: string): void {
  for (let at = 0; at < text.length; ) {
    const { read, written } = encoder.encodeInto(text.slice(at, at + scratch.length), scratch);
    to.push(scratch.subarray(0, written));
    at += read;
  }
}

/** Returns the text with the notes, which go to the end of both. */
export function textWithNotes({ raw, shown }: StreamText, notes: readonly string[]): StreamText {
  return { raw: withNotes(raw, notes), shown: withNotes(shown, notes) };
}

/** Returns a text that came in one piece, as a reply shows it. */
export function shownText(text: string): string {
  const output = new StreamOutput();
  output.push(Buffer.from(text));
  output.end();
  return output.take().shown;
}

/** Returns the answer of a tool, as JSON text and as data. */
export function jsonOutput(shown: Record<string, unknown>, data: Record<string, unknown> = shown): string {
  return toolOutput(JSON.stringify(shown), { data });
}
