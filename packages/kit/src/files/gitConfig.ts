import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { homeFolder } from "../paths/homeFolder.ts";

/** Most bytes of a file that are read, and most files that are included. */
const mostBytes = 1_000_000;
const mostFiles = 50;

/** A path that git's configuration names. Only of some keys may it be a folder. */
export interface GitNamedPath {
  readonly path: string;
  readonly mayBeFolder: boolean;
}

/**
 * Lists what a configuration of git names in a repository: folders of hooks, included files, programs and scripts, each by the places
 * that it may be meant from. It takes more than git does: conditions and sections are not looked at.
 */
export function namedByGitConfig(file: string, worktree: string): GitNamedPath[] {
  const named: GitNamedPath[] = [];
  const home = homeFolder();
  const own = home === undefined ? [] : [join(home, ".gitconfig"), join(home, ".config/git/config")];
  const starts = [worktree];
  const files = new Set([file, ...own, "/etc/gitconfig"]);
  // A file that is added meanwhile gets its turn, too.
  for (const one of files) {
    const settings = settingsIn(readSmallFile(one));
    for (const [key, value] of settings) if (key === "worktree") starts.push(resolve(dirname(one), value));
    for (const [key, value] of settings) {
      const mayBeFolder = key === "hookspath" || key === "path";
      for (const word of new Set([value, ...value.split(/\s+/)])) {
        // A ref is a file in git's folder, which a commit replaces.
        if (word.startsWith("refs/") || (!mayBeFolder && !word.includes("/"))) continue;
        const inHome = word.startsWith("~/") && home !== undefined;
        const paths = inHome ? [join(home, word.slice(2))] : [...starts, dirname(one)].map((at) => resolve(at, word));
        named.push(...paths.map((path) => ({ path, mayBeFolder })));
        if (key === "path" && files.size < mostFiles) for (const path of paths) files.add(path);
      }
    }
  }
  return named;
}

/**
 * Lists what git's configuration names for a folder: that of its repository, which may be one above it or, for a worktree or a submodule,
 * lie elsewhere.
 */
export function namedByRepository(folder: string): GitNamedPath[] {
  let top = folder;
  while (!existsSync(join(top, ".git")) && dirname(top) !== top) top = dirname(top);
  if (!existsSync(join(top, ".git"))) top = folder;
  const link = /^gitdir: (.*\S)/.exec(readSmallFile(join(top, ".git")))?.[1];
  const own = resolve(top, link ?? ".git");
  // The configuration of a worktree is that of its main repository.
  const common = resolve(own, readSmallFile(join(own, "commondir")).trim());
  const files = new Set([join(own, "config"), join(own, "config.worktree"), join(common, "config")]);
  return [...files].flatMap((file) => namedByGitConfig(file, top));
}

/** Keys in small letters, without their sections; values without quotes. */
function settingsIn(text: string): [key: string, value: string][] {
  return text
    .replace(/\\\r?\n/g, "")
    .split(/\r?\n/)
    .flatMap((line): [string, string][] => {
      const [, key, value = ""] = /^\s*(?:\[[^\]]*\]\s*)?([A-Za-z][\w-]*)\s*=\s*(.*)$/.exec(line) ?? [];
      const plain = value
        .replace(/\\(["\\])|["']/g, "$1")
        .replace(/^!/, "")
        .trim();
      return key === undefined || plain === "" ? [] : [[key.toLowerCase(), plain]];
    });
}

/** Reads a file's text, cut; empty for what is missing, cannot be read, or is no regular file. Never waits for a named pipe. */
export function readSmallFile(path: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return "";
    const bytes = Buffer.alloc(Math.min(stats.size, mostBytes));
    return bytes.toString("utf8", 0, readSync(descriptor, bytes));
  } catch {
    return "";
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
