import { FileMemory } from "./fileMemory.ts";

/** Without a search for this long, everything is forgotten. */
export const idleMs = 300_000;

interface Tree {
  shared: SharedArrayBuffer;
  files: FileMemory;
}

/** By root, the one searched last at the end. */
const trees = new Map<string, Tree>();
let idle: NodeJS.Timeout | undefined;
let created = 0;

/**
 * The memory of the tree below `root` for a search, in whatever registry; undefined if `limit` (bytes) is 0, or there is no room for
 * it. All trees together hold at most `limit`: the one that was searched the longest ago is forgotten first.
 */
export function memoryOf(root: string, limit: number): SharedArrayBuffer | undefined {
  if (limit === 0) return undefined;
  // A process that changed its user may no longer read what it could.
  const key = `${process.geteuid?.()}:${process.getegid?.()}:${root}`;
  const known = trees.get(key);
  trees.delete(key);
  const others = (): number => [...trees.values()].reduce((sum, { files }) => sum + files.used, 0);
  for (const name of trees.keys()) if (others() > limit / 2) trees.delete(name);
  // They learn no more, so that the sum stays within the limit.
  for (const { files } of trees.values()) files.most = files.used;
  let tree: Tree;
  try {
    tree = known !== undefined && isWorthKeeping(known, limit) ? known : createTree(limit);
  } catch {
    // The process has no address space left for it (`ulimit -v`): it searches without.
    trees.clear();
    return undefined;
  }
  tree.files.most = limit - others();
  trees.set(key, tree);
  clearTimeout(idle);
  idle = setTimeout(() => trees.clear(), idleMs).unref();
  return tree.shared;
}

function createTree(limit: number): Tree {
  const shared = new SharedArrayBuffer(limit);
  const files = new FileMemory(shared);
  created += 1;
  files.tree = created;
  return { shared, files };
}

/** Not one of another size, nor a full one with much about files that have changed since. */
function isWorthKeeping({ shared, files }: Tree, limit: number): boolean {
  return shared.byteLength >= limit && (files.hasRoom || files.replaced < files.used / 4);
}
