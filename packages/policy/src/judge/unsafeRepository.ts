import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { canonicalOrUndefined, isInside, isOnOtherShare } from "@toolcrib/kit/files";
import type { Settings } from "../settings.ts";
import type { CommandLine, LineCommand } from "./commandLine.ts";
import type { Looks } from "./looks.ts";

/*
 * Git runs what the configuration of its repository says. The user chose the repository of a root, and no tool writes its `.git` unasked.
 * Any other one came with the files, or the line itself makes it: below a root, or in a folder with the name of a remote.
 */

/** Returns whether a command may change files of the folder that it runs in. */
function mayBring(command: LineCommand): boolean {
  const leavesFiles = /^(?:add|branch|commit|fetch|push|remote|stage|tag)$/;
  return command.changes && !(command.ofRepository && leavesFiles.test(subcommandOf(command.words) ?? ""));
}

/** Options of git before its subcommand whose value is the next word. */
const valued = /^(?:-[Cc]|--git-dir|--work-tree|--namespace)$/;

export function subcommandOf(words: readonly string[]): string | undefined {
  let at = 1;
  while (words[at]?.startsWith("-")) at += valued.test(words[at] ?? "") ? 2 : 1;
  return words[at];
}

/** Finds the folder at `directory` or above it that holds the `.git` that git takes. */
export function repositoryAt(directory: string, looks: Looks): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (looks.link(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** The usual names of remotes, which stand for a folder of that name where no such remote is configured. */
const remotes = ["origin", "upstream"];
const transfers = /^(?:fetch|ls-remote|pull|push)$/;
/** As much as a path takes. */
const longestFile = 5000;

/** Tells whether the commands of a line take a repository that the user did not choose. */
export class Repositories {
  private readonly line: CommandLine;
  private readonly settings: Settings;

  constructor(line: CommandLine, settings: Settings) {
    this.line = line;
    this.settings = settings;
  }

  /** Returns the folder that a command may take for a repository which the user did not choose. */
  unsafe(command: LineCommand): string | undefined {
    const { directories, isFollowed, commands, writesFiles } = this.line;
    const changes = writesFiles || commands.some((one) => (one !== command || one.repeats) && mayBring(one));
    for (const directory of isFollowed ? directories : []) {
      if (this.mayTakeAnother(directory, changes)) return directory;
      const { start, repository } = this.placeOf(command.words, directory);
      if (repository !== undefined && this.isInRoots(repository) && !this.isOwn(repository)) return repository;
      if (start !== directory && this.isInRoots(start) && this.mayTakeAnother(start, changes)) return start;
      const remote = this.folderAsRemote(command.words, directory, changes);
      if (remote !== undefined) return remote;
    }
    return undefined;
  }

  /** Returns where the options before a subcommand of git let it start (`-C`), and the repository that they name (`--git-dir`). */
  private placeOf(words: readonly string[], directory: string): { start: string; repository?: string } {
    const { looks } = this.line;
    let start = directory;
    let repository: string | undefined;
    for (let at = 1; words[at]?.startsWith("-"); at += 1) {
      const [word = "", next = ""] = words.slice(at, at + 2);
      if (word === "-C") start = looks.place(start, next).opened;
      else if (word === "--git-dir") repository = next;
      else if (word.startsWith("--git-dir=")) repository = word.slice("--git-dir=".length);
      if (valued.test(word)) at += 1;
    }
    return repository === undefined ? { start } : { start, repository: looks.place(start, repository).opened };
  }

  /**
   * Returns whether git may take another repository than the user's own: a `.git` below the root, or a bare repository, which is any folder
   * with a `HEAD` (also a link to nothing) and some folders. Git looks from the directory upwards, in each for `.git` first, so the root's own
   * comes before anything that is made there. `changes`: the line may make one.
   */
  private mayTakeAnother(directory: string, changes: boolean): boolean {
    for (let at = directory; ; at = dirname(at)) {
      const isRoot = this.settings.roots.includes(at);
      const owner = isRoot ? this.ownerOf(at) : undefined;
      if (owner === "user" && (at === directory || !changes)) return this.hasOwnSubmodule(at);
      if (changes || this.exists(join(at, "HEAD")) || (!isRoot && this.exists(join(at, ".git")))) return true;
      if (isRoot) return owner === "unknown" || this.hasOwnSubmodule(at);
      if (!this.isInRoots(at) || dirname(at) === at) return true;
    }
  }

  /**
   * Returns whether a submodule of a root has a folder `.git`, so that its configuration came with the files: git starts a git of its own in
   * each. That of a submodule which git brought lies in the root's own.
   */
  private hasOwnSubmodule(top: string): boolean {
    const list = join(top, ".gitmodules");
    const text = this.exists(list) ? (attempt(() => readFileSync(list, "utf8")) ?? "") : "";
    const paths = [...text.matchAll(/^[ \t]*path[ \t]*=[ \t]*"?(.*?)"?[ \t\r]*$/gim)].map(([, path = ""]) => path);
    return paths.some((path) => this.line.looks.link(join(top, path, ".git"))?.isFile() === false);
  }

  /**
   * Returns whose repository the `.git` of a root is. It is the user's if it is a repository itself, or leads to one: a file in a worktree or
   * a submodule, or a link. One that leads to where calls may write unasked may be anybody's.
   */
  private ownerOf(root: string): "user" | "unknown" | "none" {
    if (!this.exists(join(root, ".git"))) return "none";
    const folder = this.gitFolder(root);
    if (folder === undefined) return "unknown";
    if (this.exists(join(folder, "HEAD"))) return "user";
    return this.isOwn(folder) ? "none" : "unknown";
  }

  /** Finds where the `.git` of a folder leads; undefined if that cannot be told, or if calls may write there unasked. */
  private gitFolder(top: string): string | undefined {
    const isSafe = (path: string): boolean =>
      !this.isInRoots(path) || this.settings.protectedPaths.match(path) !== undefined;
    const path = this.canonical(join(top, ".git"));
    if (path === undefined || !isSafe(path)) return undefined;
    const folder = this.line.looks.stats(path)?.isFile() ? this.linkedFolder(top, path) : path;
    return folder === path || (folder !== undefined && isSafe(folder)) ? folder : undefined;
  }

  /** Reads where a `.git` that is a file leads: it holds `gitdir: PATH`. */
  private linkedFolder(top: string, file: string): string | undefined {
    const text = attempt(() => readFileSync(file, "utf8")) ?? "";
    if (text.length > longestFile) return undefined;
    const path = /^gitdir: ([^\n\r\0]+)[\n\r]*$/.exec(text)?.[1];
    if (path === undefined || isOnOtherShare(resolve(top, path), [top])) return undefined;
    return canonicalOrUndefined(resolve(top, path));
  }

  /** Follows a link, of a folder whose links are followed. */
  private canonical(path: string): string | undefined {
    return this.line.looks.link(path)?.isSymbolicLink() === false ? path : canonicalOrUndefined(path);
  }

  /** Returns whether a repository is that of a root. */
  private isOwn(repository: string): boolean {
    return this.settings.roots.some((root) => this.canonical(join(root, ".git")) === repository);
  }

  private isInRoots(path: string): boolean {
    return this.settings.roots.some((root) => isInside(root, path));
  }

  /** Returns whether there is anything of this name, a link that leads nowhere included. */
  private exists(path: string): boolean {
    return this.line.looks.link(path) !== undefined;
  }

  /**
   * Returns the folder that a git command would take for the remote it names, or that a transfer takes without a name. What git finds there it
   * runs, as it would in any repository.
   */
  private folderAsRemote(words: readonly string[], directory: string, changes: boolean): string | undefined {
    const isTransfer = words.some((word) => transfers.test(word));
    const named = remotes.filter((name) => words.includes(name) || (name === "origin" && isTransfer));
    const found = named.map((name) => join(directory, name)).find((path) => changes || this.exists(path));
    if (found === undefined) return undefined;
    const top = repositoryAt(directory, this.line.looks);
    const folder = top === undefined ? undefined : this.gitFolder(top);
    const configured = folder === undefined ? "" : this.configurationOf(folder);
    return named.every((name) => configured.includes(`[remote "${name}"]`)) ? undefined : found;
  }

  /** Reads the configuration of a repository, that of the main one for a worktree; empty if it cannot be read. */
  private configurationOf(folder: string): string {
    const common = join(folder, "commondir");
    const read = (path: string): string => attempt(() => readFileSync(path, "utf8")) ?? "";
    const main = this.exists(common) ? resolve(folder, read(common).trim()) : folder;
    return isOnOtherShare(main, [folder]) ? "" : read(join(main, "config"));
  }
}
