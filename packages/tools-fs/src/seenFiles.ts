import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { ToolError } from "@toolcrib/core";
import type { FilePath } from "@toolcrib/kit/files";
import { newHash } from "./undo/states.ts";

/** Files remembered at most; the one seen longest ago is forgotten first. */
const mostRemembered = 10_000;
/** Bytes of a file whose content is compared where its attributes changed. */
const mostDigested = 10_000_000;

/** The files that the tools of one pack have read or written, by the state that each had then. */
export interface SeenFiles {
  /** Remembers the state that a file has now, `path` being its canonical one; never throws. */
  note(file: number | FilePath, path: string): void;
  /**
   * Throws unless the file is as it was when it was last seen. Where only attributes changed, as its mode or its times, or the file that an
   * overlay file system shows, its content decides. `printed` is its name in the error.
   */
  refuseUnseen(file: number | FilePath, path: string, printed: string): void;
}

interface State {
  readonly file: string;
  readonly version: string;
  readonly size: bigint;
}

interface Seen extends State {
  readonly digest: string | undefined;
}

/** Makes an empty record. Without `comparesContent` a change of attributes counts as one. */
export function createSeenFiles(comparesContent = true): SeenFiles {
  /** States by the file itself, as it may be moved, and by its path, as another file may show the same content there. */
  const files = new Map<string, Seen>();
  const remember = (key: string, seen: Seen): void => {
    files.delete(key);
    files.set(key, seen);
    const [oldest] = files.keys();
    if (files.size > 2 * mostRemembered && oldest !== undefined) files.delete(oldest);
  };
  return {
    note(file, path) {
      try {
        const state = stateOf(file);
        const seen = { ...state, digest: comparesContent ? digestOf(file, state) : undefined };
        remember(state.file, seen);
        remember(`at ${path}`, seen);
      } catch {
        // Gone: there is nothing to remember.
      }
    },
    refuseUnseen(file, path, printed) {
      const state = stateOf(file);
      // The first may be another file, whose number this one has now.
      const known = [files.get(state.file), files.get(`at ${path}`)].filter((seen) => seen !== undefined);
      if (known.some((seen) => seen.file === state.file && seen.version === state.version)) return;
      const compared = known.filter(({ digest, size }) => digest !== undefined && size === state.size);
      const digest = compared.length === 0 ? undefined : digestOf(file, state);
      if (digest !== undefined && compared.some((seen) => seen.digest === digest)) return;
      const why =
        known.length === 0 ? "was not read yet; read it first" : "has changed since it was read; read it again";
      throw new ToolError({ code: "execution_failed", message: `Not written: ${printed} ${why}` });
    },
  };
}

/** Throws the system's error. */
function stateOf(file: number | FilePath): State {
  const stats = typeof file === "number" ? fstatSync(file, { bigint: true }) : statSync(file, { bigint: true });
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return { file: `${dev}:${ino}`, version: `${size}:${mtimeNs}:${ctimeNs}`, size };
}

/** Returns a digest of the whole file; undefined for a large one, and for one that does not tell its size. Throws the system's error. */
function digestOf(file: number | FilePath, { size }: State): string | undefined {
  if (size === 0n || size > mostDigested) return undefined;
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
  const descriptor = typeof file === "number" ? file : openSync(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  try {
    const hash = newHash();
    const part = Buffer.allocUnsafe(Math.min(Number(size), 2 ** 16));
    for (let at = 0; ; ) {
      const read = readSync(descriptor, part, 0, part.length, at);
      if (read === 0) return hash.digest("base64");
      hash.update(part.subarray(0, read));
      at += read;
    }
  } finally {
    if (descriptor !== file) closeSync(descriptor);
  }
}
