import { existsSync, lstatSync, mkdirSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";

/**
 * Has Node keep the compiled code of what is loaded, which halves the time of a start, in the user's state folder: no file tool and
 * no sandboxed command may write there, unlike in Node's own place, the folder for temporary files. Without a folder of the user's own, nothing is kept.
 */
export function keepCompiledCode(env: NodeJS.ProcessEnv, state: string): void {
  if (env.NODE_COMPILE_CACHE || env.NODE_DISABLE_COMPILE_CACHE) return;
  try {
    const base = dirname(state);
    const kept = join(state, "compiled");
    // An error for each folder that is there would cost more than all the rest.
    if (!existsSync(kept)) for (const path of [dirname(base), base, state, kept]) makeFolder(path);
    if (isOwn(state) && isOwn(kept)) module.enableCompileCache(kept);
  } catch {
    // A home that cannot be written or is not there: the start only takes longer.
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!existsSync(path)) throw error;
  }
}

/** Returns whether nobody else can write in it: what lies there is run. */
function isOwn(path: string): boolean {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return false;
  return process.platform === "win32" || (stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0);
}
