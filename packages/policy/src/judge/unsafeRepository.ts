import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { canonicalOrUndefined, isInside, isOnOtherShare } from "@toolcrib/kit/files";
import type { Settings } from "../settings.ts";
import type { SimpleCommand } from "../shell/shellLine.ts";
import { type CommandLine, isChanging } from "./commandLine.ts";
import { linkStatsOf, pathFrom, statsOf } from "./folders.ts";

/*
 * Git runs what the configuration of its repository says. The user chose the repository of a root, and no tool writes its `.git` unasked.
 * Any other one came with the files, or the line itself makes it: below a root, or in a folder with the name of a remote.
 */

/** Returns whether a command may change files of the folder that it runs in. */
function mayBring(command: SimpleCommand): boolean {
  const leavesFiles = /^(?:add|branch|commit|fetch|push|remote|stage|tag)$/;
  return isChanging(command) && !(command.ofRepository && leavesFiles.test(subcommandOf(command.words) ?? ""));
}

/** Options of git before its subcommand whose value is the next word. */
const valued = /^(?:-[Cc]|--git-dir|--work-tree|--namespace)$/;

export function subcommandOf(words: readonly string[]): string | undefined {
  let at = 1;
  while (words[at]?.startsWith("-")) at += valued.test(words[at] ?? "") ? 2 : 1;
  return words[at];
}

/** Returns for a command of the line the folder that it may take for a repository which the user did not choose. */
export function unsafeRepositories(
  line: CommandLine,
  settings: Settings,
): (command: SimpleCommand) => string | undefined {
  const { directories = [], commands, writesFiles } = line;
  const isLoop = /\b(?:for|while|until)\b/.test(line.text);
  const found = new Map<boolean, string | undefined>();
  const find = (changes: boolean): string | undefined => {
    if (!found.has(changes))
      found.set(
        changes,
        directories.find((one) => mayTakeAnother(one, changes, settings)),
      );
    return found.get(changes);
  };
  return (command) => {
    if (!command.ofRepository) return undefined;
    const changes = writesFiles || commands.some((one) => (one !== command || isLoop) && mayBring(one));
    const here = find(changes);
    if (here !== undefined) return here;
    for (const directory of directories) {
      const { start, repository } = placeOf(command.words, directory);
      if (repository !== undefined && isInRoots(repository, settings) && !isOwn(repository, settings))
        return repository;
      const isElsewhere = start !== directory && isInRoots(start, settings);
      if (isElsewhere && mayTakeAnother(start, changes, settings)) return start;
      const remote = folderAsRemote(command.words, directory, changes, settings);
      if (remote !== undefined) return remote;
    }
    return undefined;
  };
}

/** Returns where the options before a subcommand of git let it start (`-C`), and the repository that they name (`--git-dir`). */
function placeOf(words: readonly string[], directory: string): { start: string; repository?: string } {
  let start = directory;
  let repository: string | undefined;
  for (let at = 1; words[at]?.startsWith("-"); at += 1) {
    const [word = "", next = ""] = words.slice(at, at + 2);
    if (word === "-C") start = pathFrom(start, next);
    else if (word === "--git-dir") repository = next;
    else if (word.startsWith("--git-dir=")) repository = word.slice("--git-dir=".length);
    if (valued.test(word)) at += 1;
  }
  return repository === undefined ? { start } : { start, repository: pathFrom(start, repository) };
}

/** Returns whether a repository is that of a root. */
function isOwn(repository: string, { roots }: Settings): boolean {
  return roots.some((root) => canonicalOrUndefined(join(root, ".git")) === repository);
}

/**
 * Returns whether git may take another repository than the user's own: a `.git` below the root, or a bare repository, which is any folder
 * with a `HEAD` (also a link to nothing) and some folders. Git looks from the directory upwards, in each for `.git` first, so the root's own
 * comes before anything that is made there. `changes`: the line may make one.
 */
function mayTakeAnother(directory: string, changes: boolean, settings: Settings): boolean {
  const { roots } = settings;
  for (let at = directory; ; at = dirname(at)) {
    const isRoot = roots.includes(at);
    const owner = isRoot ? ownerOf(at, settings) : undefined;
    if (owner === "user" && (at === directory || !changes)) return hasOwnSubmodule(at);
    if (changes || exists(join(at, "HEAD")) || (!isRoot && exists(join(at, ".git")))) return true;
    if (isRoot) return owner === "unknown" || hasOwnSubmodule(at);
    if (!isInRoots(at, settings) || dirname(at) === at) return true;
  }
}

/**
 * Returns whether a submodule of a root has a folder `.git`, so that its configuration came with the files: git starts a git of its own in
 * each. That of a submodule which git brought lies in the root's own.
 */
function hasOwnSubmodule(top: string): boolean {
  const list = attempt(() => readFileSync(join(top, ".gitmodules"), "utf8")) ?? "";
  const paths = [...list.matchAll(/^[ \t]*path[ \t]*=[ \t]*"?(.*?)"?[ \t\r]*$/gim)].map(([, path = ""]) => path);
  return paths.some((path) => linkStatsOf(join(top, path, ".git"))?.isFile() === false);
}

/**
 * Returns whose repository the `.git` of a root is. It is the user's if it is a repository itself, or leads to one: a file in a worktree or a
 * submodule, or a link. One that leads to where calls may write unasked may be anybody's.
 */
function ownerOf(root: string, settings: Settings): "user" | "unknown" | "none" {
  if (!exists(join(root, ".git"))) return "none";
  const folder = gitFolder(root, settings);
  if (folder === undefined) return "unknown";
  if (exists(join(folder, "HEAD"))) return "user";
  return folder === canonicalOrUndefined(join(root, ".git")) ? "none" : "unknown";
}

/** Finds where the `.git` of a folder leads; undefined if that cannot be told, or if calls may write there unasked. */
function gitFolder(top: string, settings: Settings): string | undefined {
  const isSafe = (path: string): boolean =>
    !isInRoots(path, settings) || settings.protectedPaths.match(path) !== undefined;
  const path = canonicalOrUndefined(join(top, ".git"));
  if (path === undefined || !isSafe(path)) return undefined;
  const folder = statsOf(path)?.isFile() ? linkedFolder(top, path) : path;
  return folder === path || (folder !== undefined && isSafe(folder)) ? folder : undefined;
}

/** As much as a path takes. */
const longestFile = 5000;

/** Reads where a `.git` that is a file leads: it holds `gitdir: PATH`. */
function linkedFolder(top: string, file: string): string | undefined {
  try {
    if (statSync(file).size > longestFile) return undefined;
    const path = /^gitdir: ([^\n\r\0]+)[\n\r]*$/.exec(readFileSync(file, "utf8"))?.[1];
    return path === undefined || isOnOtherShare(resolve(top, path), [top])
      ? undefined
      : canonicalOrUndefined(resolve(top, path));
  } catch {
    return undefined;
  }
}

function isInRoots(path: string, { roots }: Settings): boolean {
  return roots.some((root) => isInside(root, path));
}

/** Returns whether there is anything of this name, a link that leads nowhere included. */
function exists(path: string): boolean {
  return linkStatsOf(path) !== undefined;
}

/** The usual names of remotes, which stand for a folder of that name where no such remote is configured. */
const remotes = ["origin", "upstream"];
const transfers = /^(?:fetch|ls-remote|pull|push)$/;

/**
 * Returns the folder that a git command would take for the remote it names, or that a transfer takes without a name. What git finds there it
 * runs, as it would in any repository.
 */
function folderAsRemote(
  words: readonly string[],
  directory: string,
  changes: boolean,
  settings: Settings,
): string | undefined {
  const isTransfer = words.some((word) => transfers.test(word));
  const named = remotes.filter((name) => words.includes(name) || (name === "origin" && isTransfer));
  const found = named.map((name) => join(directory, name)).find((path) => changes || exists(path));
  if (found === undefined) return undefined;
  const top = repositoryAt(directory);
  const folder = top === undefined ? undefined : gitFolder(top, settings);
  const configured = folder === undefined ? "" : configurationOf(folder);
  return named.every((name) => configured.includes(`[remote "${name}"]`)) ? undefined : found;
}

/** Reads the configuration of a repository, that of the main one for a worktree; empty if it cannot be read. */
function configurationOf(folder: string): string {
  try {
    const common = join(folder, "commondir");
    const main = exists(common) ? resolve(folder, readFileSync(common, "utf8").trim()) : folder;
    return isOnOtherShare(main, [folder]) ? "" : readFileSync(join(main, "config"), "utf8");
  } catch {
    return "";
  }
}

/** Finds the folder at `directory` or above it that holds the `.git` that git takes. */
export function repositoryAt(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (exists(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}
