import { chmodSync, chownSync, fchmodSync, fchownSync, fsync, futimesSync, utimesSync } from "node:fs";
import { open } from "node:fs/promises";
import { promisify } from "node:util";
import type { FilePath } from "./descriptors.ts";
import { isForbiddenByNode } from "./systemErrors.ts";

/** An open file or directory, and a path that names the same. */
export interface OpenFile {
  readonly descriptor: number;
  readonly path: FilePath;
}

// Through the descriptor, so that it is this very file; by its path only where Node's permission model (`node --permission`)
// forbids that.

export function changeMode({ descriptor, path }: OpenFile, mode: number): void {
  viaDescriptor(
    () => fchmodSync(descriptor, mode),
    () => chmodSync(path, mode),
  );
}

export function changeOwner({ descriptor, path }: OpenFile, uid: number, gid: number): void {
  viaDescriptor(
    () => fchownSync(descriptor, uid, gid),
    () => chownSync(path, uid, gid),
  );
}

export function changeTimes({ descriptor, path }: OpenFile, atime: Date, mtime: Date): void {
  viaDescriptor(
    () => futimesSync(descriptor, atime, mtime),
    () => utimesSync(path, atime, mtime),
  );
}

const fsyncAsync = promisify(fsync);

/** Brings what was written to the device, where Node's permission model allows that: from Node 26 on it never does. Throws the system's error. */
export async function flush({ descriptor, path }: OpenFile): Promise<void> {
  try {
    await fsyncAsync(descriptor);
  } catch (error) {
    if (!isForbiddenByNode(error)) throw error;
    // A handle's own sync is allowed, and flushes all writes to the file.
    const handle = await open(path, "r");
    try {
      await handle.sync().catch((refused: unknown) => {
        if (!isForbiddenByNode(refused)) throw refused;
      });
    } finally {
      await handle.close();
    }
  }
}

function viaDescriptor(change: () => void, byPath: () => void): void {
  try {
    change();
  } catch (error) {
    if (!isForbiddenByNode(error)) throw error;
    byPath();
  }
}
