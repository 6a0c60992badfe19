import { closeSync, readSync, writeSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { systemErrorCode } from "@toolcrib/kit/files";

/*
 * The ends of pipes for Bun, whose sockets take no descriptor. Its own pipes are sockets, which a command cannot open again. Descriptors must
 * not block.
 */

/** The longest pause between two looks. */
const longestPauseMs = 16;
const blockBytes = 64 * 1024;
/** A pipe takes so many bytes at once or none. */
const atomicBytes = 4096;

/** Reads a pipe, and closes it at its end. */
export class PolledReader extends Readable {
  readonly #descriptor: number;
  /** One for all looks: most find nothing. */
  readonly #block = Buffer.allocUnsafeSlow(blockBytes);
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = 1;
  #isUnref = false;

  constructor(descriptor: number) {
    super();
    this.#descriptor = descriptor;
  }

  /** Lets this process end while the pipe is open. */
  unref(): this {
    this.#isUnref = true;
    this.#timer?.unref();
    return this;
  }

  override _read(): void {
    // Not at once: a command that prints without end would leave no turn to others.
    this.#lookIn(0);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    closeSync(this.#descriptor);
    done(error);
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms);
    if (this.#isUnref) this.#timer.unref();
  }

  #look(): void {
    try {
      const length = readSync(this.#descriptor, this.#block);
      this.#pauseMs = 1;
      this.push(length === 0 ? null : Buffer.from(this.#block.subarray(0, length)));
    } catch (error) {
      if (systemErrorCode(error) === "EAGAIN") {
        this.#lookIn(this.#pauseMs);
        this.#pauseMs = Math.min(2 * this.#pauseMs, longestPauseMs);
      } else this.destroy(error as Error);
    }
  }
}

/** Writes to a pipe. This process may end while it waits. */
export class PolledWriter extends Writable {
  readonly #descriptor: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(descriptor: number) {
    super();
    this.#descriptor = descriptor;
  }

  override _write(bytes: Uint8Array, encoding: BufferEncoding, done: (error?: Error) => void): void {
    let rest = bytes;
    try {
      while (rest.length > 0)
        rest = rest.subarray(writeSync(this.#descriptor, rest, 0, Math.min(rest.length, atomicBytes)));
      done();
    } catch (error) {
      if (systemErrorCode(error) === "EAGAIN")
        this.#timer = setTimeout(() => this._write(rest, encoding, done), longestPauseMs).unref();
      else done(error as Error);
    }
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    closeSync(this.#descriptor);
    done(error);
  }
}
