import { randomBytes } from "node:crypto";
import { unlinkSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { OpenDirectory } from "./descriptors.ts";
import { systemErrorCode } from "./systemErrors.ts";

/** A file under a new, short name beside the one it is to become. */
export interface TemporaryFile {
  readonly name: string;
  readonly handle: FileHandle;
  /** Closes and unlinks it; never throws. */
  discard(): Promise<void>;
}

/** A name nobody uses, short so that it fits wherever any name fits. */
export function temporaryName(): string {
  return `.tmp-${randomBytes(6).toString("hex")}`;
}

/** Creates it, never opening what exists, not even a link. Throws the system's error. */
export async function createTemporary(directory: OpenDirectory, mode: number): Promise<TemporaryFile> {
  for (;;) {
    const name = temporaryName();
    try {
      const handle = await open(directory.at(name), "wx", mode);
      return { name, handle, discard: () => discard(directory, name, handle) };
    } catch (error) {
      if (systemErrorCode(error) !== "EEXIST") throw error;
    }
  }
}

async function discard(directory: OpenDirectory, name: string, handle: FileHandle): Promise<void> {
  await handle.close().catch(() => {});
  try {
    unlinkSync(directory.at(name));
  } catch {
    // Already renamed or gone; the error that led here is the one to tell.
  }
}
