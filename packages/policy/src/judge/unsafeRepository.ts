import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { canonicalOrUndefined, isInside, isOnOtherShare } from "@toolcrib/kit/files";
import type { Settings } from "../settings.ts";
import type { SimpleCommand } from "../shell/shellLine.ts";
import { type CommandLine, isChanging } from "./commandLine.ts";
import { linkStatsOf, pathFrom, statsOf } from "./folders.ts";
import { submodulesOf } from "./gitIndex.ts";

/*
 * Git runs what the configuration of its repository says. The user chose the repository of a root, and no tool writes its `.git` unasked.
 * Any other one came with the files, or the line itself makes it: below a root, as a submodule, or in a folder with the name of a remote.
 */

const movesIndex = /^(?:bisect|checkout|cherry-pick|merge|pull|read-tree|rebase|reset|restore|revert|stash|switch)$/;

/** Returns whether a command of git changes no files of the folder that it runs in. */
export function leavesFiles({ words }: SimpleCommand): boolean {
  return /^(?:add|branch|commit|fetch|push|remote|stage|tag)$/.test(subcommandOf(words) ?? "");
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
  const commands = line.commands.filter(({ ofRepository }) => ofRepository);
  const directories = line.directories ?? [];
  // `git add` makes a submodule of a repository in the folder.
  const adds = commands.some(({ words }) => words.some((word) => /^(?:add|stage)$/.test(word)));
  const looks = !commands.every(({ words }) => /^(?:add|stage|commit|push)$/.test(words[1] ?? ""));
  // A command that takes the index from a commit brings submodules too, for the git commands after it.
  const moves = commands.length > 1 && commands.some(({ words }) => words.some((word) => movesIndex.test(word)));
  const makesSubmodule = (one: string): boolean => looks && (adds || moves) && holdsRepository(one);
  const find = (changes: boolean): string | undefined =>
    directories.find((one) => mayTakeAnother(one, changes, settings) || makesSubmodule(one));
  const mayBring = (one: SimpleCommand): boolean => isChanging(one) && !(one.ofRepository && leavesFiles(one));
  const brings = line.writesFiles || line.commands.some(mayBring);
  const toRead = commands.every(isChanging) ? undefined : find(brings);
  // A commit, too, may bring the files of a repository: git then takes the folder it runs in for one.
  const isRepeated = commands.length > 1 || /\b(?:for|while|until)\b/.test(line.text);
  const othersChange =
    line.writesFiles || line.commands.some((one) => mayBring(one) && (isRepeated || !one.ofRepository));
  const toChange = commands.some(isChanging) ? find(othersChange) : undefined;
  return (command) => {
    if (!command.ofRepository) return undefined;
    const found = isChanging(command) ? toChange : toRead;
    if (found !== undefined) return found;
    const changes = isChanging(command) ? othersChange : brings;
    for (const directory of directories) {
      const { start, repository } = placeOf(command.words, directory);
      if (repository !== undefined && isInRoots(repository, settings) && !isOwn(repository, settings))
        return repository;
      if (start === directory || !isInRoots(start, settings)) continue;
      if (mayTakeAnother(start, changes, settings) || makesSubmodule(start)) return start;
    }
    for (const directory of directories) {
      const remote = folderAsRemote(command.words, directory, othersChange, settings);
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
 * comes before anything that is made there. Its submodules count too. `changes`: the line may make one.
 */
function mayTakeAnother(directory: string, changes: boolean, settings: Settings): boolean {
  const { roots } = settings;
  for (let at = directory; ; at = dirname(at)) {
    const isRoot = roots.includes(at);
    const { owner, folder } = isRoot ? ownerOf(at, settings) : {};
    if (owner === "user" && (at === directory || !changes)) return hasUnsafeSubmodule(at, changes, settings, folder);
    if (changes || exists(join(at, "HEAD")) || (!isRoot && exists(join(at, ".git")))) return true;
    if (isRoot) return owner === "unknown" || hasUnsafeSubmodule(repositoryAt(at), changes, settings);
    if (!isInRoots(at, settings) || dirname(at) === at) return true;
  }
}

/**
 * Returns whose repository the `.git` of a root is. It is the user's if it is a repository itself, or leads to one: a file in a worktree or a
 * submodule, or a link. One that leads to where calls may write unasked may be anybody's.
 */
function ownerOf(
  root: string,
  settings: Settings,
): { owner: "user" | "unknown" | "none"; folder?: string | undefined } {
  if (!exists(join(root, ".git"))) return { owner: "none" };
  const folder = gitFolder(root, settings);
  if (folder === undefined) return { owner: "unknown" };
  if (exists(join(folder, "HEAD"))) return { owner: "user", folder };
  return { owner: folder === canonicalOrUndefined(join(root, ".git")) ? "none" : "unknown" };
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

const mostSubmodules = 200;

/**
 * Returns whether git would enter a submodule that came with the files, of the repository at `start` (`startFolder`, if that is known): `git status`, `git diff`
 * and others start a git of their own in each, and that git runs what the submodule's configuration says. A submodule is an entry of the
 * index with a mode of its own, whose folder holds a `.git`. `changes`: the line may put another repository there.
 */
function hasUnsafeSubmodule(
  start: string | undefined,
  changes: boolean,
  settings: Settings,
  startFolder?: string | undefined,
): boolean {
  const open = [start];
  for (let top = open.pop(), seen = 0; top !== undefined; top = open.pop(), seen += 1) {
    const folder = (seen === 0 ? startFolder : undefined) ?? gitFolder(top, settings);
    if (folder === undefined) continue;
    const names = submodulesOf(folder);
    if (names === undefined || seen > mostSubmodules) return true;
    for (const name of names) {
      const submodule = join(top, name);
      if (!isInRoots(submodule, settings)) continue;
      if (changes) return true;
      if (!exists(join(submodule, ".git"))) continue;
      const own = gitFolder(submodule, settings);
      if (own === undefined || !isInside(folder, own)) return true;
      open.push(submodule);
    }
  }
  return false;
}

/** Folders looked through for repositories that a line would make submodules. */
const mostFolders = 2000;

/** Returns whether a folder holds a repository of its own, or so much that it cannot be told. */
function holdsRepository(folder: string): boolean {
  const open = [folder];
  for (let seen = 0, at = open.pop(); at !== undefined; at = open.pop(), seen += 1) {
    if (seen > mostFolders) return true;
    let entries: { name: string; isDirectory(): boolean }[];
    try {
      entries = readdirSync(at, { withFileTypes: true });
    } catch {
      continue;
    }
    for (const entry of entries) {
      if (entry.name.toLowerCase() === ".git" && at !== folder) return true;
      if (entry.isDirectory() && entry.name !== ".git") open.push(join(at, entry.name));
    }
  }
  return false;
}
