import { readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@toolcrib/core/internal";

/** Returns the names in a folder; none where it is not there, or cannot be read. */
export function namesIn(folder: string): string[] {
  return attempt(() => readdirSync(folder)) ?? [];
}

/** Removes a file. One that cannot be removed stays: another program may have been faster, or holds it. */
export function removeIfPossible(file: string): void {
  quietly(() => unlinkSync(file));
}

/** Removes a folder that holds files alone, with these. No tree is removed: a folder that holds another one stays. */
export function removeFlatFolder(folder: string): void {
  for (const name of namesIn(folder)) removeIfPossible(join(folder, name));
  quietly(() => rmdirSync(folder));
}

function quietly(remove: () => void): void {
  try {
    remove();
  } catch {
    // It is gone, or stays until the next time.
  }
}
