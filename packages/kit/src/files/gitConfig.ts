import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { homeFolder } from "../paths/homeFolder.ts";

/** Most bytes of a file that are read, most files that are included, and most folders in which submodules are looked for. */
const mostBytes = 1_000_000;
const mostFiles = 50;
const mostFolders = 500;

/** A path that git's configuration names. Only of some keys may it be a folder. */
export interface GitNamedPath {
  readonly path: string;
  readonly mayBeFolder: boolean;
}

/** Files of git's configuration, each with the folders that relative paths in it may be meant from. */
export class GitConfigs {
  readonly #files = new Map<string, Set<string>>();

  add(file: string, folder: string): void {
    this.#files.set(file, (this.#files.get(file) ?? new Set()).add(folder));
  }

  /**
   * Adds the configuration of a folder's repository, which may be one above it or, for a worktree or a submodule, lie elsewhere; and those
   * of its submodules and worktrees, in which git starts a git of their own.
   */
  addRepository(folder: string): void {
    let top = folder;
    while (!existsSync(join(top, ".git")) && dirname(top) !== top) top = dirname(top);
    if (!existsSync(join(top, ".git"))) top = folder;
    const link = /^gitdir: (.*\S)/.exec(readSmallFile(join(top, ".git")))?.[1];
    const own = resolve(top, link ?? ".git");
    // The configuration of a worktree is that of its main repository.
    const common = resolve(own, readSmallFile(join(own, "commondir")).trim());
    const repositories = new Set([own, common]);
    for (const at of [...repositories, ...[...repositories].flatMap(innerRepositories)]) {
      this.add(join(at, "config"), top);
      this.add(join(at, "config.worktree"), top);
    }
  }

  /**
   * Lists what they and the user's own name: folders of hooks, included files, programs and scripts, each by the places that it may be
   * meant from. It takes more than git does: conditions and sections are not looked at.
   */
  named(): GitNamedPath[] {
    const read = new Map<string, readonly Setting[]>();
    const settingsOf = (file: string): readonly Setting[] => {
      const settings = read.get(file) ?? settingsIn(readSmallFile(file));
      read.set(file, settings);
      return settings;
    };
    const named = [...this.#files].flatMap(([file, folders]) => namedBy(file, [...folders], settingsOf));
    // The user's own name the same for each.
    return [...new Map(named.map((one) => [`${one.mayBeFolder} ${one.path}`, one])).values()];
  }
}

function namedBy(file: string, starts: string[], settingsOf: (file: string) => readonly Setting[]): GitNamedPath[] {
  const named: GitNamedPath[] = [];
  const home = homeFolder();
  const own = home === undefined ? [] : [join(home, ".gitconfig"), join(home, ".config/git/config")];
  const files = new Set([file, ...own, "/etc/gitconfig"]);
  // A file that is added meanwhile gets its turn, too.
  for (const one of files) {
    const settings = settingsOf(one);
    for (const { key, value } of settings) if (key === "worktree") starts.push(resolve(dirname(one), value));
    for (const { key, mayBeFolder, words } of settings) {
      for (const word of words) {
        const inHome = word.startsWith("~/") && home !== undefined;
        const paths = inHome ? [join(home, word.slice(2))] : [...starts, dirname(one)].map((at) => resolve(at, word));
        named.push(...paths.map((path) => ({ path, mayBeFolder })));
        if (key === "path" && files.size < mostFiles) for (const path of paths) files.add(path);
      }
    }
  }
  return named;
}

/** Lists the words of a value that a shell runs, those behind a variable, a substitution or `cd` too: of `"$PWD"/a/b;:` that is `a/b`. */
function wordsOfShell(value: string): string[] {
  const words = value.replace(/\$\([^()]*\)|`[^`]*`|\$\{?\w+\}?/g, "").split(/[\s'"`;|&<>(){}\\=]+/);
  const at = words.indexOf("cd");
  const below = at < 0 ? [] : words.map((word) => `${words[at + 1]}/${word}`);
  return [...words, ...words.map((word) => word.replace(/^\/+/, "")), ...below];
}

/** Lists the folders in which the folder of a repository keeps its submodules, theirs too, and its worktrees. */
function innerRepositories(folder: string): string[] {
  const found: string[] = [];
  const open = [join(folder, "modules"), join(folder, "worktrees")];
  // A folder that is added meanwhile gets its turn, too.
  for (const at of open) {
    if (open.length > mostFolders) break;
    for (const entry of entriesOf(at)) {
      const path = join(at, entry.name);
      const isRepository = existsSync(join(path, "HEAD"));
      if (isRepository) found.push(path);
      // The name of a submodule may have slashes.
      if (entry.isDirectory()) open.push(isRepository ? join(path, "modules") : path);
    }
  }
  return found;
}

/** Lists entries; empty for what is missing, or cannot be read. */
function entriesOf(folder: string) {
  return attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

/** A setting: its key in small letters, without its section, its value without quotes, and what in that may be a path. */
interface Setting {
  readonly key: string;
  readonly value: string;
  readonly mayBeFolder: boolean;
  readonly words: readonly string[];
}

function settingsIn(text: string): Setting[] {
  return text
    .replace(/\\\r?\n/g, "")
    .split(/\r?\n/)
    .flatMap((line): Setting[] => {
      const [, key, value = ""] = /^\s*(?:\[[^\]]*\]\s*)?([A-Za-z][\w-]*)\s*=\s*(.*)$/.exec(line) ?? [];
      const plain = value
        .replace(/\\(["\\])|["']/g, "$1")
        .replace(/^!/, "")
        .trim();
      return key === undefined || plain === "" ? [] : [settingOf(key.toLowerCase(), plain)];
    });
}

function settingOf(key: string, value: string): Setting {
  const mayBeFolder = key === "hookspath" || key === "path";
  const words = [...new Set([value, ...value.split(/\s+/), ...wordsOfShell(value)])];
  // A ref is a file in git's folder, which a commit replaces.
  const paths = words.filter((word) => !word.startsWith("refs/") && (mayBeFolder || word.includes("/")));
  return { key, value, mayBeFolder, words: paths };
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
