import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Makes a directory with its missing parents; one that exists is success. Throws the system's error. Node's own recursive mkdir
 * never returns where a file system answers ENOENT below a directory that exists, as /proc does.
 */
export function ensureDirectory(path: string, mode = 0o777): void {
  const missing: string[] = [];
  let place = resolve(path);
  while (!statSync(place, { throwIfNoEntry: false })?.isDirectory() && dirname(place) !== place) {
    missing.push(place);
    place = dirname(place);
  }
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, { mode });
    } catch (error) {
      // Another process may have been quicker.
      if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
    }
  }
}
