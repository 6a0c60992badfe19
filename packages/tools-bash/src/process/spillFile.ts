import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { ensureDirectory, OpenDirectory, systemErrorCode } from "@toolcrib/kit/files";

/** Most bytes of one stream that are kept in a file. */
export const mostSpilled: number = 64 * 1024 * 1024;

/** The file with the whole of a stream. */
export interface Spilled {
  readonly path: string;
  /** The number of bytes that the file holds, from the first on. */
  readonly held: number;
}

/**
 * A file, for its owner alone, that keeps a stream. It is made with the first bytes. Written synchronously, as the bytes come: so a command
 * cannot print faster than they are kept, and nothing waits in memory.
 */
export class SpillFile {
  /** The code of the system error that kept the stream from being saved. */
  unwritten: string | undefined;
  readonly #directory: string;
  readonly #name: string;
  readonly #most: number;
  #descriptor: number | undefined;
  #held = 0;

  /** Names the file after `stream`. The directory is made if it is missing. */
  constructor(directory: string, stream: string, most: number = mostSpilled) {
    this.#directory = directory;
    this.#name = `run_bash-${crypto.randomUUID().slice(0, 13)}-${stream}.txt`;
    this.#most = most;
  }

  get #path(): string {
    return join(this.#directory, this.#name);
  }

  /** Returns undefined if nothing was written, or not everything that should have been. */
  get spilled(): Spilled | undefined {
    return this.#held === 0 ? undefined : { path: this.#path, held: this.#held };
  }

  /** Writes up to the limit, and leaves out the rest. Never throws. */
  write(bytes: Uint8Array): void {
    if (this.unwritten !== undefined) return;
    try {
      this.#descriptor ??= this.#open();
      let rest = bytes.subarray(0, this.#most - this.#held);
      while (rest.length > 0) {
        const written = writeSync(this.#descriptor, rest);
        this.#held += written;
        rest = rest.subarray(written);
      }
    } catch (error) {
      this.discard();
      this.unwritten = systemErrorCode(error) ?? "unknown error";
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Removes the file, for an output that nobody will be told of. */
  discard(): void {
    const wasMade = this.#descriptor !== undefined || this.#held > 0;
    this.close();
    this.#held = 0;
    // What cannot be removed stays, and nobody is told of it.
    if (wasMade) attempt(() => unlinkSync(this.#path));
  }

  /** Opens a new file, through no link, and never one that exists already. */
  #open(): number {
    ensureDirectory(this.#directory, 0o700);
    const directory = new OpenDirectory(this.#directory);
    try {
      return openSync(directory.at(this.#name), "wx", 0o600);
    } finally {
      directory.close();
    }
  }
}
