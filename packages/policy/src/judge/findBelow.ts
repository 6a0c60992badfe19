import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { systemErrorCode } from "@toolcrib/kit/files";
import type { Budget } from "./budget.ts";

/** What a look through a folder found. */
interface Below {
  /** The first path that passed the test. */
  readonly found?: string | undefined;
  /** False where the folder holds too much, or could not be read, so that more may be in it. */
  readonly complete: boolean;
}

/** A look through more names than this would keep a decision waiting. */
const mostNames = 5000;

/**
 * Looks through a folder, links not followed, for a path that passes the test. A file, or nothing, is complete. Folders and names
 * count against the budget of the call.
 */
export async function findBelow(
  folder: string,
  test: (path: string, entry: Dirent) => boolean,
  budget: Budget,
): Promise<Below> {
  const folders = [folder];
  let names = 0;
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    if (!budget.take(1)) return { complete: false };
    try {
      for await (const entry of await opendir(at)) {
        names += 1;
        if (names > mostNames || !budget.take(1)) return { complete: false };
        const path = join(at, entry.name);
        if (test(path, entry)) return { found: path, complete: true };
        if (entry.isDirectory()) folders.push(path);
      }
    } catch (error) {
      if (!["ENOENT", "ENOTDIR"].includes(systemErrorCode(error) ?? "")) return { complete: false };
    }
  }
  return { complete: true };
}
