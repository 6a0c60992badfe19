import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** The content of a directory on disk: path to kind and content. Links are not followed. */
export function snapshot(directory: string, times = false): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(directory, { recursive: true }) as string[]) {
    const path = join(directory, name);
    const stats = lstatSync(path);
    const time = times ? ` ${stats.mtimeMs} ${stats.mode} ${stats.ino}` : "";
    if (stats.isDirectory()) found[name] = `directory${time}`;
    else if (stats.isSymbolicLink()) found[name] = `link ${readlinkSync(path)}${time}`;
    else if (stats.isFile())
      found[name] = `file ${createHash("sha256").update(readFileSync(path)).digest("hex")}${time}`;
    else found[name] = `special${time}`;
  }
  return found;
}
