import { lstatSync } from "node:fs";
import { attempt, untilAborted } from "@toolcrib/core/internal";
import { isInside } from "../paths/pathLimits.ts";

interface Claim {
  readonly keys: readonly string[];
  readonly done: Promise<void>;
}

const claimsKey: unique symbol = Symbol.for("toolcrib.pathClaims");

/** Returns the one list of the process, shared by every installed copy of this package, oldest first. */
function allClaims(): Set<Claim> {
  const shared = globalThis as { [claimsKey]?: Set<Claim> };
  shared[claimsKey] ??= new Set();
  return shared[claimsKey];
}

/**
 * Runs `task` while no other holder has any of these canonical paths, a path above one or a path below one; a file with
 * several hard links counts as one by all its names. Waiters are served in order, and all paths are taken at once, so
 * holders cannot wait for each other. Not reentrant. Rejects with the signal's reason when that fires while waiting.
 */
export async function withPathLocks<T>(
  paths: readonly string[],
  task: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const claims = allClaims();
  const keys = paths.flatMap(keysOf);
  const earlier = [...claims].filter((claim) => claim.keys.some((held) => keys.some((key) => conflict(held, key))));
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  const claim: Claim = { keys, done };
  claims.add(claim);
  try {
    if (earlier.length > 0) await untilAborted(Promise.all(earlier.map(({ done }) => done)), signal);
    return await task();
  } finally {
    claims.delete(claim);
    finish();
  }
}

const foldsCase = process.platform === "darwin" || process.platform === "win32";

function keysOf(path: string): string[] {
  const key = foldsCase ? path.toLowerCase() : path;
  // One that cannot be looked at is locked by its path alone; the task itself will meet the error.
  const stats = attempt(() => lstatSync(path, { throwIfNoEntry: false }));
  return stats?.isFile() && stats.nlink > 1 ? [key, `inode:${stats.dev}:${stats.ino}`] : [key];
}

function conflict(a: string, b: string): boolean {
  return isInside(a, b) || isInside(b, a);
}
