import { isAscii, isUtf8 } from "node:buffer";

type State = "text" | "escape" | "charset" | "control" | "string";

const printable = /[^\0-\x08\n-\x1f\x7f-\x9f]+/y;
const zeros = /\0+/y;
const replaced = /\ufffd/g;
/** Longer parameters than any sequence needs. */
const mostParameters = 32;

const lineFeed = 0x0a;
/** Characters at the end of a line that can be written over: what is before them in a longer one stays as it is. */
const mostRewritten = 1024;

/** Binary output has more than this share of NULs and other controls that no text has. */
const binaryShare = 0.3;

/**
 * Makes text of what a program prints for a terminal: no escape sequences, and a line that was written over as it stood at its end. In
 * linear time and flat memory, wherever the bytes are cut.
 */
export class OutputCleaner {
  readonly #emit: (text: string | Uint8Array) => void;
  readonly #line = new RewrittenLine((text) => {
    this.#ready += text;
  });
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #ready = "";
  #state: State = "text";
  #parameters = "";
  #bytes = 0;
  #zeros = 0;
  #controls = 0;
  #invalid = 0;

  constructor(emit: (text: string | Uint8Array) => void) {
    this.#emit = emit;
  }

  /** Returns whether it was mostly no text since the last `flush`. What is invalid counts beside a NUL: without, it is text of another encoding. */
  get isBinary(): boolean {
    const odd = this.#zeros + this.#controls + (this.#zeros > 0 ? this.#invalid : 0);
    return odd > 8 && odd > this.#bytes * binaryShare;
  }

  push(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    const [first, last] = [bytes.indexOf(lineFeed) + 1, bytes.lastIndexOf(lineFeed) + 1];
    this.#decode(bytes.subarray(0, first));
    // Whole lines, from the beginning of a line.
    const lines = bytes.subarray(first, last);
    if (this.#state === "text" && isPlain(lines)) {
      this.#send();
      this.#emit(lines);
    } else this.#decode(lines);
    this.#pushRest(bytes.subarray(last));
    this.#send();
  }

  /** Hands over the line that has not ended, and a character that is not whole. A sequence goes on with the next bytes. */
  flush(): void {
    this.#read(this.#decoder.decode());
    this.#ready += this.#line.take();
    this.#send();
    this.#bytes = this.#zeros = this.#controls = this.#invalid = 0;
  }

  #send(): void {
    if (this.#ready !== "") this.#emit(this.#ready);
    this.#ready = "";
  }

  /** Takes the beginning of a line, or a piece of one. Of a long one only the end is decoded: it alone can be written over. */
  #pushRest(bytes: Uint8Array): void {
    const isLong = bytes.length > mostRewritten && isAscii(bytes) && isPlain(bytes);
    // One byte decides what comes of a character that was cut.
    this.#decode(isLong ? bytes.subarray(0, 1) : bytes);
    if (!isLong) return;
    let full = 1;
    if (this.#state === "text" && this.#line.isPlain) {
      full += this.#line.settled(bytes.length - 1);
      this.#ready += this.#line.take();
      this.#send();
      this.#emit(bytes.subarray(1, full));
    }
    this.#decode(bytes.subarray(full));
  }

  #decode(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (text.includes("\ufffd")) this.#invalid += text.match(replaced)?.length ?? 0;
    this.#read(text);
  }

  #read(text: string): void {
    for (let at = 0; at < text.length; ) {
      if (this.#state === "text") {
        const run = matchAt(printable, text, at);
        if (run !== "") this.#line.write(run);
        const nulls = matchAt(zeros, text, at + run.length);
        if (nulls !== "") {
          this.#zeros += nulls.length;
          // A separator, of file names for example.
          this.#line.write("␀");
        }
        at += run.length + nulls.length;
        if (run !== "" || nulls !== "") continue;
      }
      this.#step(text.charCodeAt(at));
      at += 1;
    }
  }

  /** Takes one character that is a control, or part of a sequence. */
  #step(code: number): void {
    const state = this.#state;
    if (code === 0x1b) this.#state = "escape";
    else if (code === 0x18 || code === 0x1a) this.#state = "text";
    else if (code >= 0x80 && code <= 0x9f) this.#startEightBit(code);
    else if (state === "string") {
      // An end that never comes takes no more than its line.
      if (code === 0x07 || code === 0x0a) this.#state = "text";
      if (code === 0x0a) this.#endLine();
    } else if (code < 0x20) this.#execute(code);
    else if (code !== 0x7f) this.#stepSequence(code);
  }

  #stepSequence(code: number): void {
    if (code < 0x30 && this.#state === "escape") this.#state = "charset";
    if (code < 0x30 && this.#state === "charset") return;
    if (this.#state === "control" && code < 0x40) {
      if (this.#parameters.length < mostParameters) this.#parameters += String.fromCharCode(code);
      return;
    }
    if (this.#state === "escape" && "[]PX^_".includes(String.fromCharCode(code))) {
      this.#startEightBit(code + 0x40);
      return;
    }
    if (this.#state === "control") this.#control(String.fromCharCode(code), this.#parameters);
    this.#state = "text";
  }

  /** Starts an eight-bit control: U+0080 to U+009F are the second bytes of two-byte sequences, moved up by 0x40. */
  #startEightBit(code: number): void {
    this.#parameters = "";
    this.#state = code === 0x9b ? "control" : [0x90, 0x98, 0x9d, 0x9e, 0x9f].includes(code) ? "string" : "text";
    if (code === 0x85) this.#endLine();
  }

  #execute(code: number): void {
    if (code === 0x0d) this.#line.carriageReturn();
    else if (code === 0x08) this.#line.back(1);
    else if (code === 0x09) this.#line.write("\t");
    else if (code >= 0x0a && code <= 0x0c) this.#endLine();
    else if (code !== 0x07) this.#controls += 1;
  }

  /** Does to the line what a control sequence does that goes back or erases; all others (colours) go. */
  #control(final: string, parameters: string): void {
    // `?K` erases as `K` does.
    if (!(final === "K" ? /^\??\d*$/ : /^[\d;]*$/).test(parameters)) return;
    const given = Number.parseInt(parameters.replace("?", ""), 10) || 0;
    if (final === "D") this.#line.back(Math.max(1, given));
    else if (final === "G" && given <= 1) this.#line.back(mostRewritten);
    else if (final === "K" && given <= 2) this.#line.erase(given);
    // To another line, or a new screen: this one is as it will stay.
    else if ("ABEFHJdf".includes(final)) this.#leaveLine();
  }

  #leaveLine(): void {
    const text = this.#line.take();
    if (text !== "") this.#ready += `${text}\n`;
  }

  #endLine(): void {
    this.#ready += `${this.#line.take()}\n`;
  }
}

/** Returns whether it is valid UTF-8 without controls but for tabs and line feeds. */
function isPlain(bytes: Uint8Array): boolean {
  let hasOthers = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 ? byte !== 0x09 && byte !== lineFeed : byte === 0x7f) return false;
    if (byte < 0x80) continue;
    hasOthers = true;
    // U+0080 to U+009F are controls, too.
    if (byte === 0xc2 && (bytes[at + 1] ?? 0) < 0xa0) return false;
  }
  return !hasOthers || isUtf8(bytes);
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/** A line that programs write over. Each step takes bounded time, and the memory is flat. */
class RewrittenLine {
  readonly #emit: (text: string) => void;
  #text = "";
  /** The place of the next character; undefined at the end of a line that was only added to. */
  #at: number | undefined;
  #isRewritten = false;

  /** Passes to `emit` what can no longer be written over. */
  constructor(emit: (text: string) => void) {
    this.#emit = emit;
  }

  /** Returns whether the next character goes to the end of a line that was only added to. */
  get isPlain(): boolean {
    return this.#at === undefined;
  }

  write(run: string): void {
    const at = this.#place;
    const end = at + run.length;
    const text = this.#text.slice(0, at).padEnd(at) + run + this.#text.slice(end);
    const settled = lengthOfSettled(text.length);
    // Not between the halves of a surrogate pair.
    const first = (text.charCodeAt(settled - 1) & 0xfc00) === 0xd800 ? settled - 1 : settled;
    if (first > 0) this.#emit(this.isPlain ? text.slice(0, first) : withoutHalves(text.slice(0, first)));
    if (this.isPlain) this.#text = text.slice(first);
    else this.#rewrite(end - first, text.slice(first));
  }

  /** Goes to the start. A line break that follows ends the line as it is. */
  carriageReturn(): void {
    if (this.#text !== "") this.#at = 0;
  }

  back(by: number): void {
    this.#rewrite(Math.max(0, this.#place - by), this.#text);
  }

  /** Erases to the end (0), from the beginning (1) or all of it (2). */
  erase(what: number): void {
    const at = this.#place;
    const rest = what === 1 ? this.#text.slice(at + 1).padStart(this.#text.length) : this.#text.slice(0, at);
    this.#rewrite(at, what === 2 ? "" : rest);
  }

  /** Returns the line as it stands. A new one begins. */
  take(): string {
    const text = this.#isRewritten ? withoutHalves(this.#text).trimEnd() : this.#text;
    this.#text = "";
    this.#at = undefined;
    this.#isRewritten = false;
    return text;
  }

  /** Counts how many of so many characters can no longer be written over, once they stand at the end of a plain line. */
  settled(added: number): number {
    return Math.max(0, lengthOfSettled(this.#text.length + added) - this.#text.length);
  }

  get #place(): number {
    return this.#at ?? this.#text.length;
  }

  #rewrite(at: number, text: string): void {
    this.#isRewritten = true;
    this.#at = at;
    this.#text = text;
  }
}

/** Puts a space in the place of each half of a character whose other half was written over. */
function withoutHalves(text: string): string {
  return text.replace(/\p{Surrogate}/gu, " ");
}

/** Returns how long the full pieces are, without the last one, which stays, full or not. */
function lengthOfSettled(length: number): number {
  return length === 0 ? 0 : length - 1 - ((length - 1) % mostRewritten);
}
