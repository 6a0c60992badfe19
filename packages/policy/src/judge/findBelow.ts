import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { systemErrorCode } from "@toolcrib/core/files";

/** What a look through a folder found. */
export interface Below {
  /** The first path that passed the test. */
  readonly found?: string | undefined;
  /** False where the folder holds too much, or could not be read, so that more may be in it. */
  readonly complete: boolean;
}

/** A look through more names than this would keep a decision waiting. */
const mostNames = 5000;

/**
 * Looks through a folder, `depth` levels deep and links not followed, for a path that passes the test. A file, or nothing, is
 * complete.
 */
export async function findBelow(
  folder: string,
  test: (path: string, entry: Dirent) => boolean,
  depth: number = Infinity,
): Promise<Below> {
  const folders = [{ at: folder, level: 1 }];
  let names = 0;
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const { at, level } = next;
    try {
      for await (const entry of await opendir(at)) {
        names += 1;
        if (names > mostNames) return { complete: false };
        const path = join(at, entry.name);
        if (test(path, entry)) return { found: path, complete: true };
        if (entry.isDirectory() && level < depth) folders.push({ at: path, level: level + 1 });
      }
    } catch (error) {
      if (!["ENOENT", "ENOTDIR"].includes(systemErrorCode(error) ?? "")) return { complete: false };
    }
  }
  return { complete: true };
}
