import { chmodSync, chownSync, fchmodSync, fchownSync, fsync, futimesSync, utimesSync } from "node:fs";
import { promisify } from "node:util";
import { isForbiddenByNode } from "./systemErrors.ts";

/**
 * A path for any `fs` call: text, or bytes (Node's Buffer) where a name is not valid UTF-8. Without the types of Node, which this
 * package does not ask its users for, there is no Buffer to name.
 */
export type FilePath =
  | string
  | (typeof globalThis extends { Buffer: { isBuffer(value: unknown): value is infer Bytes } } ? Bytes : Uint8Array);

/** An open file or directory, and a path that names the same. */
export interface OpenFile {
  readonly descriptor: number;
  readonly path: FilePath;
}

/**
 * Changes attributes of an open file, the owner first, as that takes bits of the mode away. Through the descriptor, so that it is this
 * very file; by its path only where Node's permission model (`node --permission`) forbids that. Throws the system's error.
 */
export function changeAttributes(
  { descriptor, path }: OpenFile,
  { owner, mode, times }: { owner?: readonly [uid: number, gid: number]; mode?: number; times?: readonly [Date, Date] },
): void {
  if (owner !== undefined)
    viaDescriptor(
      () => fchownSync(descriptor, ...owner),
      () => chownSync(path, ...owner),
    );
  if (mode !== undefined)
    viaDescriptor(
      () => fchmodSync(descriptor, mode),
      () => chmodSync(path, mode),
    );
  if (times !== undefined)
    viaDescriptor(
      () => futimesSync(descriptor, ...times),
      () => utimesSync(path, ...times),
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
    const handle = await process.getBuiltinModule("node:fs/promises").open(path, "r");
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
