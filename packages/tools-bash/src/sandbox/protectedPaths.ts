import { type BigIntStats, type Dirent, lstatSync } from "node:fs";
import { basename, dirname } from "node:path";
import {
  compileDenyRules,
  type DeniedPaths,
  GitConfigs,
  isInside,
  protectedPaths,
  readSmallFile,
} from "@toolcrib/kit/files";
import { type BytePath, toBytePath, toText } from "./bytePath.ts";
import { EntryMatcher } from "./entryMatcher.ts";
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

/** Protected paths that exist in writable directories. */
export interface FoundProtected {
  /** For each, what was there. A file has another state when it was changed, a link when it leads elsewhere. */
  readonly states: ReadonlyMap<BytePath, string>;
  /** Canonical paths to mount read-only. Paths in one of them are not listed. */
  readonly kept: readonly BytePath[];
}

/** The parts of git's own folder that decide what it runs, or where it looks for that. */
const gitParts = new Set(["config", "config.worktree", "hooks", "commondir", "gitdir"]);
/** And the folders where it holds the same of submodules and worktrees. */
const gitFolders = new Set(["modules", "worktrees"]);
/** Bytes of a list of a rebase that are read. */
const longestRebase = 1_000_000n;
const patterns = protectedPaths.flatMap(({ pattern, inSandbox = [pattern] }) => inSandbox);
/** Those of the form `**`, FOLDER, NAME, which as patterns would take a match of each path: names by their folder. */
const folderParts = new Map<string, Set<string>>();
const otherPatterns = patterns.filter((pattern) => {
  const [, folder = "", name = ""] = /^\*\*\/([^/*]+)\/([^/*]+)\/?$/.exec(pattern) ?? [];
  if (name !== "") folderParts.set(folder, (folderParts.get(folder) ?? new Set()).add(name));
  return name === "";
});

/**
 * Finds what is protected in directories that commands may write, but for what `unprotected` names and for installed packages
 * (`node_modules`), which commands replace. `repositories` are folders that were one before, and grow: a command may take one apart, write
 * its configuration and put it together again. Rejects with an Error in plain words if not all could be looked at.
 */
export async function findProtected(
  writable: readonly string[],
  unprotected: readonly string[],
  repositories: Set<BytePath> = new Set(),
  longest: number = longestWalk,
): Promise<FoundProtected> {
  const walk = new ProtectedWalk(writable, unprotected, repositories, longest);
  for (const directory of outermost(writable)) {
    await walk.visit(toBytePath(directory));
    // The repository may lie above, or elsewhere as that of a worktree does.
    walk.configs.addRepository(directory);
  }
  walk.keepNamed();
  return { states: walk.states, kept: outermost([...walk.kept]) };
}

class ProtectedWalk {
  readonly states = new Map<BytePath, string>();
  readonly kept = new Set<BytePath>();
  readonly configs = new GitConfigs();
  readonly #writable: readonly BytePath[];
  readonly #matcher: EntryMatcher;
  readonly #unprotected: DeniedPaths | undefined;
  readonly #repositories: Set<BytePath>;
  readonly #tree: TreeWalk;

  constructor(
    writable: readonly string[],
    unprotected: readonly string[],
    repositories: Set<BytePath>,
    longest: number,
  ) {
    this.#repositories = repositories;
    this.#writable = writable.map(toBytePath);
    const roots = writable;
    this.#unprotected = unprotected.length > 0 ? compileDenyRules({ patterns: unprotected, roots }) : undefined;
    // A place that holds a root, such as `~/.config/`, was chosen to be written.
    const isChosen = (pattern: string): boolean => {
      const { match } = compileDenyRules({ patterns: [pattern], roots });
      return pattern.startsWith("~/") && roots.some((root) => match(root, true) !== undefined);
    };
    this.#matcher = new EntryMatcher({ patterns: otherPatterns.filter((pattern) => !isChosen(pattern)), roots });
    this.#tree = new TreeWalk(
      longest,
      "make fewer directories writable, or allow changes to folders (sandbox.unprotected)",
    );
  }

  async visit(start: BytePath): Promise<void> {
    const waiting = [{ directory: start, inGit: /\/\.git(?:\/|$)/i.test(start) }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { directory, inGit } = next;
      const entries = await this.#tree.list(directory);
      // A command of the same user could make it readable.
      if (!entries) this.#keep(directory);
      if (entries && holdsRepository(directory, entries, inGit)) this.#repositories.add(directory);
      const isRepository = this.#repositories.has(directory);
      const mayMatch = this.#matcher.mayMatchBelow(directory);
      const parts = folderParts.get(basename(directory).toLowerCase());
      for (const entry of entries ?? []) {
        const path = entryPath(directory, entry.name);
        const kind = entry.isSymbolicLink() ? undefined : entry.isDirectory();
        const name = entry.name.toLowerCase();
        if (this.#isUnprotected(path, kind)) continue;
        // Where it looks for objects beside its own.
        if (isRepository && name === "objects") this.#keep(entryPath(path, "info/alternates"));
        if (isRepository && name === "rebase-merge") this.#watchRebase(entryPath(path, "git-rebase-todo"));
        if (isRepository && gitParts.has(name)) {
          this.#keep(path);
          if (name.startsWith("config")) this.configs.add(toText(path), toText(topOf(directory)));
        } else if (name === ".git" && !kind) {
          this.#keep(path);
          // Its configuration lies elsewhere, and names paths in this directory, too.
          if (!entry.isSymbolicLink()) this.configs.addRepository(toText(directory));
        } else if (parts?.has(name) || (!inGit && this.#isProtected(path, entry.name, kind, mayMatch)))
          this.#keep(path);
        else if (kind && name === ".git") waiting.push({ directory: path, inGit: true });
        else if (kind && inGit && (!isRepository || gitFolders.has(name))) waiting.push({ directory: path, inGit });
        else if (kind && !inGit && name !== "node_modules") waiting.push({ directory: path, inGit });
      }
    }
  }

  #isUnprotected(path: BytePath, isDirectory: boolean | undefined): boolean {
    return this.#unprotected?.match(toText(path), isDirectory) !== undefined;
  }

  #isProtected(path: BytePath, name: BytePath, isDirectory: boolean | undefined, mayMatch: boolean): boolean {
    return this.#matcher.matchesName(name, isDirectory) || (mayMatch && this.#matcher.matchesPath(path, isDirectory));
  }

  /** Lists a rebase that would run programs when it goes on, without keeping it: commands write such a list themselves. */
  #watchRebase(path: BytePath): void {
    const stats = statsOf(path);
    if (!stats) return;
    // Git writes neither a link nor such a long list.
    const isUnread = !stats.isFile() || stats.size > longestRebase;
    if (isUnread || /^\s*(?:x|exec)\s/m.test(readSmallFile(toText(path)))) this.states.set(path, stateOf(stats));
  }

  /** Keeps what git's configurations name in writable directories. */
  keepNamed(): void {
    for (const { path, mayBeFolder } of this.configs.named()) {
      const named = toBytePath(path);
      if (!this.#writable.some((root) => isInside(root, named)) || this.#isUnprotected(named, undefined)) continue;
      if (mayBeFolder || statsOf(named)?.isDirectory() === false) this.#keep(named);
    }
  }

  /** Keeps a path, and of a link what it leads to: the link itself cannot be kept. */
  #keep(path: BytePath): void {
    const stats = statsOf(path);
    if (!stats) return;
    const target = realBytePath(path);
    const found = target === undefined ? stats : statsOf(target);
    this.states.set(path, `${target !== path && target} ${stateOf(found ?? stats)}`);
    const isWhole = /\/\.git$/i.test(path) && found?.isDirectory();
    const isIn = target !== undefined && this.#writable.some((root) => isInside(root, target) && root !== target);
    if (isIn && !isWhole) this.kept.add(target);
  }
}

/** Returns the folder that the configuration of a repository is about: the one that holds `.git`. */
function topOf(repository: BytePath): BytePath {
  return /\/\.git$/i.test(repository) ? dirname(repository) : repository;
}

/**
 * Returns whether git takes a folder for a repository, or would with a few more files: `.git`, any folder that holds the same, and below
 * `.git` those of submodules and worktrees.
 */
function holdsRepository(directory: BytePath, entries: readonly Dirent<BytePath>[], inGit: boolean): boolean {
  if (/\/\.git$/i.test(directory)) return true;
  if (inGit && entries.some((entry) => /^(?:config|commondir)$/i.test(entry.name) && !entry.isDirectory())) return true;
  const names = new Set(entries.map(({ name }) => name.toLowerCase()));
  const parts = ["head", "objects", "refs"].filter((name) => names.has(name));
  return parts.length > 1 || (names.has("head") && names.has("commondir"));
}

function stateOf(stats: BigIntStats): string {
  return stats.isDirectory() ? `folder ${stats.ino}` : `${stats.mode} ${stats.ino} ${stats.ctimeNs}`;
}

function statsOf(path: BytePath): BigIntStats | undefined {
  try {
    return lstatSync(toSystemPath(path), { bigint: true });
  } catch (error) {
    if (isGone(error)) return undefined;
    throw cannotLook(path, error);
  }
}

/** One command that is watched. */
export interface WatchedCommand {
  /** Resolves to the protected paths that were made, changed or removed since it started. Rejects with an Error in plain words. */
  findChanges(): Promise<readonly string[]>;
  /** Ends the watch. Call it when the command has ended. */
  end(): void;
}

/**
 * Watches what commands make of protected paths. Call it with what was found right before a command. If that one ends without an answer,
 * as by an abort, the next command answers for it.
 */
export function createProtectedWatch(find: () => Promise<FoundProtected>): (before: FoundProtected) => WatchedCommand {
  let running = 0;
  /** The paths that were there when all before was answered for. */
  let unanswered: FoundProtected | undefined;
  return (before) => {
    const start = unanswered ?? before;
    let after: FoundProtected | undefined;
    unanswered = start;
    running += 1;
    return {
      async findChanges() {
        after = await find();
        const { states } = after;
        const paths = new Set([...start.states.keys(), ...states.keys()]);
        return [...paths]
          .filter((path) => start.states.get(path) !== states.get(path))
          .sort((a, b) => Number(isOfGit(b)) - Number(isOfGit(a)) || (a < b ? -1 : 1))
          .map(toText);
      },
      end() {
        running -= 1;
        if (after) unanswered = running > 0 ? after : undefined;
      },
    };
  };
}

/** Returns whether git runs a path: of many only the first are named, and those come before what waits for an editor or a shell. */
function isOfGit(path: BytePath): boolean {
  return /\/(?:\.git(?:\/.*)?|hooks|config|commondir|gitdir|alternates)$/i.test(path);
}
