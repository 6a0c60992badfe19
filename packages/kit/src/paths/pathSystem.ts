import { lstatSync, readdirSync } from "node:fs";
import path from "node:path";
import { canonical } from "./canonicalPath.ts";
import type { PathStyle } from "./pathStyle.ts";

/** Writes and looks up paths, all of them absolute: those of the running system, or in a test those of another. */
export interface PathSystem {
  readonly style: PathStyle;
  /** Follows every link, as `canonical` does. */
  canonical(path: string): string;
  /** Looks up what is there, a link not followed; undefined if nothing is. */
  lstat(path: string): { isDirectory(): boolean; isSymbolicLink(): boolean } | undefined;
  /** Lists the names in a directory. */
  list(directory: string): readonly string[];
}

export const thisSystem: PathSystem = {
  style: path,
  canonical,
  lstat: (one) => lstatSync(one, { throwIfNoEntry: false }),
  list: (directory) => readdirSync(directory),
};
