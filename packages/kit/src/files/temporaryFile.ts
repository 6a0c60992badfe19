import { closeSync, openSync, unlinkSync } from "node:fs";
import type { FilePath, OpenDirectory } from "./descriptors.ts";
import { systemErrorCode } from "./systemErrors.ts";

/** A file with a new, short name in the directory of the file that it will replace. */
export interface TemporaryFile {
  readonly name: string;
  readonly path: FilePath;
  readonly descriptor: number;
  /** Closes it once; throws the system's error. */
  close(): void;
  /** Closes and unlinks it; never throws. */
  discard(): void;
}

/** Returns a name nobody uses, short so that it fits wherever any name fits. */
export function temporaryName(): string {
  // The global one: importing node:crypto takes 8 ms, paid by whoever only imports this package.
  return `.tmp-${crypto.randomUUID().slice(0, 13).replace("-", "")}`;
}

/** Creates it, never opening what exists, not even a link. Throws the system's error. */
export function createTemporary(directory: OpenDirectory, mode: number): TemporaryFile {
  const name = temporaryName();
  const path = directory.at(name);
  let descriptor: number;
  try {
    descriptor = openSync(path, "wx", mode);
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return createTemporary(directory, mode);
    throw error;
  }
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    closeSync(descriptor);
  };
  const discard = (): void => {
    for (const step of [close, () => unlinkSync(path)]) {
      try {
        step();
      } catch {
        // Already renamed or gone; the error that led here is the one to report.
      }
    }
  };
  return { name, path, descriptor, close, discard };
}
