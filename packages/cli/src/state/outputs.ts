import { readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const outputsName = "outputs";

/** Where the long outputs of the conversations in a session folder are, a folder for each. */
export function outputsFolder(sessions: string): string {
  return join(sessions, outputsName);
}

/** Where the long outputs of one conversation go; undefined for a journal that is kept elsewhere, with which they could not go. */
export function outputsOf(journal: string | undefined, sessions: string): string | undefined {
  if (journal === undefined || dirname(journal) !== sessions) return undefined;
  return join(outputsFolder(sessions), basename(journal, ".jsonl"));
}

/** Removes the outputs of conversations whose journal was removed. What cannot be removed stays. */
export function removeLostOutputs(sessions: string): void {
  const there = new Set(namesIn(sessions));
  for (const name of namesIn(outputsFolder(sessions))) {
    if (there.has(`${name}.jsonl`)) continue;
    const folder = join(outputsFolder(sessions), name);
    // No tree is removed: nothing here ever makes one.
    for (const file of namesIn(folder)) quietly(() => unlinkSync(join(folder, file)));
    quietly(() => rmdirSync(folder));
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function quietly(remove: () => void): void {
  try {
    remove();
  } catch {
    // Another program may have been faster.
  }
}
