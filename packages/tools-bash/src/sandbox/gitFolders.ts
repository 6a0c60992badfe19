import { existsSync, lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { isInside, readSmallFile } from "@toolcrib/kit/files";

/**
 * Lists the folders outside of the writable directories that git writes for them: for a linked worktree the folder that it shares with the
 * repository, for a submodule its own. Only those that name the directory back: a `.git` file that leads elsewhere opens nothing.
 */
export function gitFoldersOf(writable: readonly string[]): string[] {
  const folders = new Set(writable.map(gitFolderOf).filter((folder) => folder !== undefined));
  return [...folders].filter((folder) => !writable.some((root) => isInside(root, folder)));
}

function gitFolderOf(top: string): string | undefined {
  const file = join(top, ".git");
  if (!attempt(() => lstatSync(file))?.isFile()) return undefined;
  const link = /^gitdir: (.*\S)/.exec(readSmallFile(file))?.[1];
  const own = link === undefined ? undefined : realPath(resolve(top, link));
  if (own === undefined || !existsSync(join(own, "HEAD"))) return undefined;
  const common = readSmallFile(join(own, "commondir")).trim();
  if (common === "") return isModule(own) && isNamedByConfig(own, top) ? own : undefined;
  const shared = dirname(dirname(own));
  const isListed = basename(dirname(own)) === "worktrees" && realPath(resolve(own, common)) === shared;
  const named = readSmallFile(join(own, "gitdir")).trim();
  return isListed && isRepository(shared) && realPath(resolve(own, named)) === file ? shared : undefined;
}

/** Returns whether a folder lies in the `modules/` of a repository, or of a worktree of it. */
function isModule(folder: string): boolean {
  const parts = folder.split("/modules/");
  return isRepository(folder) && parts.some((_, at) => at > 0 && isRepository(parts.slice(0, at).join("/modules/")));
}

function isRepository(folder: string): boolean {
  return existsSync(join(folder, "HEAD")) && ["objects", "commondir"].some((name) => existsSync(join(folder, name)));
}

/** Returns whether the configuration in a folder of git says that its worktree is `top`. */
function isNamedByConfig(folder: string, top: string): boolean {
  const texts = ["config", "config.worktree"].map((name) => readSmallFile(join(folder, name)));
  return texts
    .flatMap((text) => [...text.matchAll(/^\s*worktree\s*=\s*"?([^"\r\n]*[^"\s])/gim)])
    .some(([, worktree = ""]) => realPath(resolve(folder, worktree)) === top);
}

/** Returns the canonical path of what is there. */
export function realPath(path: string): string | undefined {
  return attempt(() => realpathSync.native(path));
}
