import { closeSync, constants, openSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { sep } from "node:path";

const firstSize = 2 ** 20;
/** A larger buffer is not kept for the next file. */
const mostKept = 2 ** 22;
/** Largest part of a file that is searched at once; also where a longer line is split. */
const windowSize = 2 ** 24;

const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;

/** A part of a file. Its bytes are valid until the next part is read. */
export interface FileWindow {
  bytes: Buffer;
  isFirst: boolean;
  isLast: boolean;
}

/** Opens a file to be read: links are not followed, and a FIFO does not block. If `confined`, throws as `confirmOpened`. */
export function openFile(path: string, confined: boolean): number {
  const fd = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  try {
    if (confined) confirmOpened(fd, path);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Reads files through one reused buffer, for one thread: no two searches may use it at a time. */
export class WindowReader {
  #buffer = Buffer.allocUnsafeSlow(firstSize);

  /** Reads a small file whole; undefined for a larger one. Otherwise as `read`. */
  readSmall(path: string, confined: boolean): Buffer | undefined {
    const fd = openFile(path, confined);
    try {
      let filled = 0;
      while (filled < this.#buffer.length) {
        const read = this.#fill(fd, filled);
        if (read === 0) return this.#buffer.subarray(0, filled);
        filled += read;
      }
      return undefined;
    } finally {
      closeSync(fd);
    }
  }

  /**
   * Reads `path` (absolute, canonical): whole where it has up to 16 MB, else in windows that end at line ends. Links are not
   * followed and a FIFO does not block. Throws a system error; if `confined`, EACCES for a file that is not the one that `path` named
   * when it was checked.
   */
  *read(path: string, confined: boolean): Generator<FileWindow, void, undefined> {
    const fd = openFile(path, confined);
    try {
      let filled = 0;
      for (let isFirst = true; ; ) {
        const read = this.#fill(fd, filled);
        if (read === 0) {
          if (filled > 0 || isFirst) yield { bytes: this.#buffer.subarray(0, filled), isFirst, isLast: true };
          return;
        }
        filled += read;
        if (filled < this.#buffer.length) continue;
        if (filled < windowSize) {
          const larger = Buffer.allocUnsafeSlow(filled * 2);
          this.#buffer.copy(larger);
          this.#buffer = larger;
          continue;
        }
        const lastLine = this.#buffer.lastIndexOf(10) + 1;
        const end = lastLine === 0 ? filled : lastLine;
        yield { bytes: this.#buffer.subarray(0, end), isFirst, isLast: false };
        this.#buffer.copyWithin(0, end, filled);
        filled -= end;
        isFirst = false;
      }
    } finally {
      closeSync(fd);
      if (this.#buffer.length > mostKept) this.#buffer = Buffer.allocUnsafeSlow(firstSize);
    }
  }

  #fill(fd: number, from: number): number {
    return readSync(fd, this.#buffer, from, this.#buffer.length - from, null);
  }
}

/** Throws EACCES when the opened file does not lie at `path`: a link was swapped in meanwhile. */
export function confirmOpened(fd: number, path: string): void {
  const opened = process.platform === "linux" ? readlinkSync(`/proc/self/fd/${fd}`) : realpathSync.native(path);
  // Here paths have `/` between their names, on Windows too.
  if (opened !== path && opened.replaceAll(sep, "/") !== path)
    throw Object.assign(new Error("moved while it was opened"), { code: "EACCES" });
}
