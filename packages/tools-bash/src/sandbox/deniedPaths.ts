import { lstatSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { type DenyRules, homeFolder, isInside, systemErrorCode } from "@toolcrib/kit/files";
import { type BytePath, toBytePath } from "./bytePath.ts";
import { EntryMatcher } from "./entryMatcher.ts";
import { realPath } from "./gitFolders.ts";
import {
  cannotLook,
  entryPath,
  isGone,
  longestWalk,
  outermost,
  realBytePath,
  TreeWalk,
  toSystemPath,
} from "./treeWalk.ts";

/** Denied paths that exist, canonical. Paths in one of the directories are not listed. */
export interface FoundPaths {
  readonly files: readonly BytePath[];
  readonly directories: readonly BytePath[];
}

/** Most paths that are masked: bubblewrap takes 0.8 s for 500, and four times as long for twice as many. */
export const mostMasks = 500;

/**
 * Finds what is denied in the directories `walked`, and elsewhere in the places that patterns from `/` and `~/` name. Rejects with an Error in
 * plain words if that could not all be looked at.
 */
export async function findDenied(
  deny: DenyRules,
  walked: readonly string[],
  longest: number = longestWalk,
): Promise<FoundPaths> {
  const matcher = new EntryMatcher(deny);
  const walk = new DenyWalk(matcher, longest);
  const outer = outermost(walked);
  for (const directory of outer) await walk.visit(toBytePath(directory), matcher.hasNames);
  for (const start of new Set(matcher.placedPatterns.flatMap(startOf))) {
    if (!outer.some((directory) => isInside(directory, start))) await walk.visit(toBytePath(start), false);
  }
  return { files: [...walk.files], directories: [...walk.directories] };
}

/**
 * Makes the look for denied paths before each command. It adds what was denied before the first one: a command may move a denied link away,
 * but what it led to stays denied. What commands link to later counts only while it is linked to.
 */
export function createDeniedSearch(deny: DenyRules | undefined, walked: readonly string[]): () => Promise<FoundPaths> {
  let first: FoundPaths | undefined;
  return async () => {
    if (deny === undefined) return { files: [], directories: [] };
    const found = await findDenied(deny, [...walked, ...deny.roots]);
    first ??= found;
    const together = (kind: keyof FoundPaths): BytePath[] => [
      ...new Set([...found[kind], ...(first?.[kind] ?? []).filter((path) => realBytePath(path) === path)]),
    ];
    return { files: together("files"), directories: together("directories") };
  };
}

/** Returns where to look for what a pattern from `/` or `~/` matches: what exists of the plain names at its head, links followed. */
function startOf(pattern: string): string[] {
  const fromHome = pattern === "~" || pattern.startsWith("~/");
  if (!fromHome && !pattern.startsWith("/")) return [];
  const top = fromHome ? homeFolder() : "/";
  let start = top === undefined ? undefined : realPath(top);
  for (const name of pattern.split("/").slice(fromHome ? 1 : 0)) {
    if (start === undefined || /[*?[\\]/.test(name)) break;
    start = realPath(join(start, name)) ?? start;
  }
  return start === undefined ? [] : [start];
}

/** The directories that are still to be listed are kept in a list: a tree may be thousands of levels deep. */
class DenyWalk {
  readonly files = new Set<BytePath>();
  readonly directories = new Set<BytePath>();
  readonly #matcher: EntryMatcher;
  readonly #tree: TreeWalk;

  constructor(matcher: EntryMatcher, longest: number) {
    this.#matcher = matcher;
    this.#tree = new TreeWalk(longest, "deny folders by their place");
  }

  /** Looks at a path and at all below it where something may match; at names without a place only with `everyName`. */
  async visit(start: BytePath, everyName: boolean): Promise<void> {
    if (this.#matcher.matchesPath(start)) return this.#deny(start);
    const isDirectory = lstatSync(toSystemPath(start), { throwIfNoEntry: false })?.isDirectory();
    const waiting = isDirectory ? [start] : [];
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      const mayMatch = this.#matcher.mayMatchBelow(directory);
      if (!everyName && !mayMatch) continue;
      const entries = await this.#tree.list(directory);
      // A command of the same user could make it readable.
      if (!entries) this.directories.add(directory);
      for (const entry of entries ?? []) {
        const path = entryPath(directory, entry.name);
        const kind = entry.isSymbolicLink() ? undefined : entry.isDirectory();
        if (
          (everyName && this.#matcher.matchesName(entry.name, kind)) ||
          (mayMatch && this.#matcher.matchesPath(path, kind))
        ) {
          this.#deny(path);
        } else if (kind) {
          waiting.push(path);
        }
      }
    }
  }

  /** Adds what the path leads to: a link cannot be masked, and its target can be read by its own name. */
  #deny(path: BytePath): void {
    try {
      const target = realpathSync.native(toSystemPath(path), { encoding: "latin1" });
      const isDirectory = statSync(toSystemPath(target)).isDirectory();
      (isDirectory ? this.directories : this.files).add(target);
      if (this.directories.size + this.files.size > mostMasks) throw tooManyMasks();
    } catch (error) {
      // A link that leads nowhere, or gone meanwhile.
      if (isGone(error)) return;
      throw systemErrorCode(error) === undefined ? error : cannotLook(path, error);
    }
  }
}

export function tooManyMasks(): Error {
  const advice = "allow changes to protected ones (sandbox.unprotected), or deny the folders that contain them";
  return new Error(`more than ${mostMasks} paths would have to be masked; ${advice}`);
}
