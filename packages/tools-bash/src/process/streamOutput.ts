import type { OutputSink } from "./commandOutput.ts";
import { HeadTailBuffer, withNotes } from "./headTailBuffer.ts";
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

/** Keeps one stream of a command as printed and as a reply shows it, in flat memory. */
export class StreamOutput implements OutputSink {
  readonly #newSpill: () => SpillFile | undefined;
  readonly #cleaner = new OutputCleaner((text) => {
    if (typeof text === "string") pushText(this.#clean, text);
    else this.#clean.push(text);
  });
  #raw: HeadTailBuffer;
  #clean = new HeadTailBuffer();

  /** Sends what is too long to be shown whole to a file that `newSpill` makes. */
  constructor(newSpill: () => SpillFile | undefined = () => undefined) {
    this.#newSpill = newSpill;
    this.#raw = new HeadTailBuffer(undefined, newSpill());
  }

  get isEmpty(): boolean {
    return this.#raw.total === 0;
  }

  push(bytes: Uint8Array): void {
    this.#raw.push(bytes);
    this.#cleaner.push(bytes);
  }

  toString(): string {
    return this.#raw.toString();
  }

  /** Returns what came since the last call. */
  take(): StreamText {
    if (this.isEmpty) return { raw: "", shown: "" };
    const { isBinary } = this.#cleaner;
    this.#cleaner.flush();
    const shown = isBinary ? this.#describeBinary() : this.#clean.toSent(this.#raw);
    const raw = this.#raw.toString();
    this.close();
    this.#raw = new HeadTailBuffer(undefined, this.#newSpill());
    this.#clean = new HeadTailBuffer();
    return { raw, shown };
  }

  close(): void {
    this.#raw.close();
  }

  discard(): void {
    this.#raw.discard();
  }

  #describeBinary(): string {
    const head = /^[^\ufffd␀]*/.exec(this.#clean.toString().slice(0, longestHead))?.[0].trimEnd() ?? "";
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
  return output.take().shown;
}
