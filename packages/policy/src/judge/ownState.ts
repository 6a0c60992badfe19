import { readdirSync, type Stats, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { canonicalOrUndefined, compilePathPatterns, isInside } from "@toolcrib/kit/files";
import { describeEffect } from "../describe.ts";
import type { OwnState, Settings } from "../settings.ts";
import type { Verdict } from "../verdict.ts";
import { exactPattern } from "./protectedPaths.ts";

/** The folders by their names and where these lead now: a link may have come since the last look. */
export function foldersOf({ folders }: OwnState): string[] {
  return [...new Set(folders.flatMap((folder) => [folder, canonicalOf(folder)]))];
}

/**
 * Judges a change of the program's own state: denied by any name of what lies in its folders, also a hard link, which no pattern of paths
 * knows. Of a remote only paths are compared: it may be this disk, but what lies there cannot be looked up here.
 */
export function judgeOwnState(effect: ToolEffect, { ownState, roots, scope }: Settings): Verdict | undefined {
  const { kind, path, givenPath = path, tree, remote } = effect;
  if (ownState === undefined || path === undefined) return undefined;
  const folders = foldersOf(ownState);
  const patterns = compilePathPatterns(folders.map(exactPattern), {
    roots: [],
    ignoreCase: true,
    missingMatches: true,
  });
  const subject = { what: describeEffect(effect, scope), effect };
  const denied: Verdict = {
    decision: "deny",
    cause: { by: "protected", pattern: "" },
    why: ownState.why,
    ...subject,
  };
  const pattern = patterns.match(path) ?? patterns.match(givenPath ?? path);
  if (pattern !== undefined || (tree && patterns.mayMatchBelow(path))) return denied;
  if (remote !== undefined) return undefined;
  const stats = kind === "write" ? statsOf(path) : undefined;
  const linked = stats?.isFile() && stats.nlink > 1 ? stats : undefined;
  if (linked && folders.some((folder) => holds(folder, linked))) return denied;
  for (const [name, decides] of Object.entries(ownState.files ?? {})) {
    // By its own name it is a protected path.
    if (name === basename(path)) return undefined;
    const isIt = (ownState.roots ?? roots).some((root) => {
      const file = canonicalOf(join(root, name));
      return file === path || (tree && isInside(path, file)) || (linked && isSame(statsOf(file), linked));
    });
    const why = `it is another name of ${name}, or a folder around it, and that ${decides}`;
    if (isIt) return { decision: "ask", cause: { by: "protected", pattern: name }, why, ...subject };
  }
  return undefined;
}

function canonicalOf(path: string): string {
  return canonicalOrUndefined(path) ?? path;
}

/** Returns whether a folder holds the file, by whatever name. */
function holds(folder: string, file: Stats): boolean {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).some((entry) => {
      return entry.isFile() && isSame(statsOf(join(entry.parentPath, entry.name)), file);
    });
  } catch {
    // There is no such folder yet.
    return false;
  }
}

function isSame(one: Stats | undefined, other: Stats): boolean {
  return one?.ino === other.ino && one.dev === other.dev;
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
