import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { linkStatsOf } from "./folders.ts";

/** The mode of a submodule in an index, and how far behind it its name begins for ids of SHA-1 and SHA-256. */
const submoduleMode = Buffer.from([0, 0, 0xe0, 0]);
const nameOffsets = [38, 50];
const extendedFlag = 0x40;
/** A larger index is not read. */
const largestIndex = 2 ** 26;

/** The last content of a repository's index, and the state of the files that hold it. */
interface KnownIndex {
  readonly files: readonly string[];
  readonly state: string;
  readonly names: string[];
}

const known = new Map<string, KnownIndex>();
const mostKnown = 20;
/** A file that changed so shortly before it was read may have changed since, within the same tick of the clock. */
const settledMs = 2000;

/**
 * Lists the names of submodules in the index of a repository, and some that are none; undefined if they cannot be told. An index is only
 * read again if it or its folder has changed: it takes longer than all the rest of a decision.
 */
export function submodulesOf(folder: string): string[] | undefined {
  const last = known.get(folder);
  if (last !== undefined && last.state === stateOf(last.files)) return last.names;
  known.delete(folder);
  try {
    const parts = readdirSync(folder).filter((name) => name === "index" || name.startsWith("sharedindex."));
    const indexes = parts.map((name) => join(folder, name));
    const files = [folder, ...indexes];
    const state = stateOf(files);
    const names: string[] = [];
    for (const index of indexes) {
      const found = submodulesIn(index);
      if (found === undefined) return undefined;
      names.push(...found);
    }
    if (known.size >= mostKnown) known.clear();
    if (state !== undefined) known.set(folder, { files, state, names });
    return names;
  } catch {
    return undefined;
  }
}

/** Returns what is different once one of the files was changed; undefined where that cannot be told. */
function stateOf(files: readonly string[]): string | undefined {
  const states = files.map((file) => {
    const stats = linkStatsOf(file);
    const isSettled = stats !== undefined && stats.ctimeMs < Date.now() - settledMs && !stats.isSymbolicLink();
    return isSettled ? `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}` : undefined;
  });
  return states.includes(undefined) ? undefined : states.join();
}

/** Lists what one index says. Throws if it cannot be read. */
function submodulesIn(index: string): string[] | undefined {
  if (lstatSync(index).size > largestIndex) return undefined;
  const bytes = readFileSync(index);
  const names: string[] = [];
  for (let at = bytes.indexOf(submoduleMode); at !== -1; at = bytes.indexOf(submoduleMode, at + 1)) {
    // Version 4 has only the end of each name.
    if (bytes.readUInt32BE(4) > 3) return undefined;
    for (const offset of nameOffsets) {
      const isExtended = ((bytes[at + offset - 2] ?? 0) & extendedFlag) !== 0;
      const start = at + offset + (isExtended ? 2 : 0);
      const end = bytes.indexOf(0, start);
      if (end > start) names.push(bytes.toString("utf8", start, end));
    }
  }
  return names;
}
