import { FileMemory } from "./fileMemory.ts";

/** Without a search for this long, everything is forgotten. */
export const idleMs = 300_000;

/** By root, the one searched last at the end. */
const trees = new Map<string, FileMemory>();
let idle: NodeJS.Timeout | undefined;
let created = 0;

/**
 * Returns the memory of the tree below `root` for a search, in whatever registry; undefined if `limit` (bytes) is 0, or there is no room
 * for it. All trees together hold at most `limit`: the one that was searched the longest ago is forgotten first.
 */
export function memoryOf(root: string, limit: number): SharedArrayBuffer | undefined {
  if (limit === 0) return undefined;
  // A process that changed its user may no longer read what it could.
  const key = `${process.geteuid?.()}:${process.getegid?.()}:${root}`;
  const known = trees.get(key);
  trees.delete(key);
  const others = (): number => [...trees.values()].reduce((sum, { used }) => sum + used, 0);
  for (const name of trees.keys()) if (others() > limit / 2) trees.delete(name);
  // They learn no more, so that the sum stays within the limit.
  for (const files of trees.values()) files.most = files.used;
  let files: FileMemory;
  try {
    files = known !== undefined && isWorthKeeping(known, limit) ? known : new FileMemory(new SharedArrayBuffer(limit));
  } catch {
    // The process has no address space left for it (`ulimit -v`): it searches without.
    trees.clear();
    return undefined;
  }
  if (files !== known) files.tree = created += 1;
  files.most = limit - others();
  trees.set(key, files);
  clearTimeout(idle);
  idle = setTimeout(() => trees.clear(), idleMs).unref();
  return files.memory;
}

/** Returns whether a memory is large enough, and not full of what files held before they changed. */
function isWorthKeeping(files: FileMemory, limit: number): boolean {
  return files.memory.byteLength >= limit && (files.hasRoom || files.replaced < files.used / 4);
}
