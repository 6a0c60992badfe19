import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
} from "node:fs";
import { compileDenyRules, type DeniedPaths, type DenyRules } from "@toolcrib/kit/files";
import { compileIgnoreRules, type IgnoreRules } from "./ignoreRules.ts";
import type { SearchJob } from "./job.ts";
import { confirmOpened, openFile } from "./readWindows.ts";

/** The ignore rules in force in one directory: its own and, through `parent`, those above. */
export interface RuleChain {
  readonly own: IgnoreRules | undefined;
  /** Of all rules in force. */
  readonly cost: number;
  /** Length of the directory's path with its `/`. */
  readonly base: number;
  readonly parent: RuleChain | undefined;
}

/** The visible content of a directory: the names not ignored, in the order of their paths, and the rules for what is below. */
export interface VisibleDirectory {
  /** Names, ending in `/` for directories. */
  readonly names: readonly string[];
  /** The names ignored, in the same form. */
  readonly ignored: readonly string[];
  readonly rules: RuleChain | undefined;
  /** Denied names, which are not among them. */
  readonly leftOut: number;
}

/**
 * Limits of the work done at a time: bytes of a directory and of a .gitignore that are read, how many names are compared with rules
 * (`matches` is a count of both). `kept` is how many entries of directories are remembered before all are forgotten.
 */
export interface ListLimits {
  readonly directory: number;
  readonly ignoreFile: number;
  readonly matches: number;
  readonly kept: number;
}

/** Limits for work of a few milliseconds at most. */
export const quickLimits: ListLimits = { directory: 2 ** 18, ignoreFile: 2 ** 15, matches: 2 ** 18, kept: 5000 };
const noLimits: ListLimits = { directory: Infinity, ignoreFile: Infinity, matches: Infinity, kept: 400_000 };

/** Kept for each directory, so without the rest of its `Stats`. */
type Stamp = Pick<Stats, "dev" | "ino" | "mtimeMs" | "ctimeMs">;

interface Listing {
  /** Undefined where it may not be kept. */
  stamp: Stamp | undefined;
  names: readonly string[];
  /** The cost of comparing them with a rule: longer names take longer. */
  cost: number;
  hasIgnoreFile: boolean;
  hasRepository: boolean;
  ignoreText: string;
  inherited: RuleChain | undefined;
  visible: VisibleDirectory | undefined;
}

/** The age in ms that a change must have when it is read: a newer one may be followed by another with the same time. */
export const settledMs = 3000;
/** The bytes that an entry adds to the size of its directory, which Windows and some file systems do not tell. */
const bytesOfEntry = 24;
const mostListers = 8;
const ignoreFile = ".gitignore";
/** A name that only a pattern for every name matches. */
const anyName = "\u0001";
/** Only so much of a longer .gitignore is read. */
const longestIgnoreFile = 2 ** 20;

/** Makes the lister of each set of roots and denied paths, kept from search to search with what it remembers. */
export function createListers(limits?: ListLimits): (job: Pick<SearchJob, "roots" | "deny">) => DirectoryLister {
  const listers = new Map<string, DirectoryLister>();
  return ({ roots, deny }) => {
    const key = JSON.stringify([roots, deny]);
    const lister = listers.get(key) ?? new DirectoryLister(roots, deny, limits);
    if (listers.size > mostListers) listers.clear();
    listers.set(key, lister);
    return lister;
  };
}

/** Lists directories. Listings that have not changed are kept from call to call. */
export class DirectoryLister {
  readonly #roots: readonly string[] | undefined;
  readonly #denied: DeniedPaths | undefined;
  readonly #denyCost: number;
  readonly #confined: boolean;
  readonly #limits: ListLimits;
  readonly #cached = new Map<string, Listing>();
  readonly #chains = new Map<string, { text: string; chain: RuleChain }>();
  #count = 0;

  /** Opens nothing outside `roots`, and shows nothing that `deny` binds. */
  constructor(roots: readonly string[] | undefined, deny?: DenyRules, limits: ListLimits = noLimits) {
    this.#roots = roots;
    this.#denied = deny === undefined ? undefined : compileDenyRules(deny);
    this.#denyCost = deny?.patterns.length ?? 0;
    this.#confined = roots !== undefined || deny !== undefined;
    this.#limits = limits;
  }

  /**
   * Lists where a walk starts, by the rules from above it too: down from its repository's root, or the file system's. A start that is
   * ignored or lies in an ignored folder was named, so these rules do not count; nor do its own if `isNamed` and they ignore all that it
   * holds. Otherwise as `list`.
   */
  listStart(path: string, isNamed = false): VisibleDirectory | undefined {
    let chain: RuleChain | undefined;
    const above = this.#foldersAbove(path);
    for (const [at, folder] of above.entries()) {
      const text = this.#readIgnoreFile(folder);
      if (text === undefined) return undefined;
      chain = this.#chainFor(folder, text, chain);
      const next = above[at + 1] ?? path;
      const name = next.slice(folder.endsWith("/") ? folder.length : folder.length + 1);
      const hidesAll = next === path && isHidden(anyName, path, chain) && !isHidden(anyName, folder, chain);
      if (hidesAll || isHidden(`${name}/`, folder, chain)) chain = undefined;
    }
    const found = this.list(path, chain);
    if (!isNamed || found === undefined || found.names.some((name) => name !== ignoreFile)) return found;
    if (![anyName, `${anyName}/`].every((name) => isHidden(name, path, found.rules))) return found;
    const listing = this.#readListing(path);
    return listing && visibleOf(listing, path, undefined, this.#denied);
  }

  /** Lists a directory; `path` is absolute, without a final `/`. Undefined for more than the limits allow. Throws a system error. */
  list(path: string, inherited: RuleChain | undefined): VisibleDirectory | undefined {
    const listing = this.#readListing(path);
    const text = listing?.hasIgnoreFile ? this.#readIgnoreFile(path) : "";
    if (listing === undefined || text === undefined) return undefined;
    const above = listing.hasRepository ? undefined : inherited;
    if (listing.visible === undefined || listing.inherited !== above || listing.ignoreText !== text) {
      const rules = this.#chainFor(path, text, above);
      if (listing.cost * ((rules?.cost ?? 0) + this.#denyCost) > this.#limits.matches) return undefined;
      listing.visible = visibleOf(listing, path, rules, this.#denied);
      listing.inherited = above;
      listing.ignoreText = text;
    }
    return listing.visible;
  }

  #readListing(path: string): Listing | undefined {
    const known = this.#cached.get(path);
    if (!this.#confined) {
      const stats = statSync(path);
      return known !== undefined && hasStamp(known, stats) ? known : this.#readEntries(path, path, stats);
    }
    const fd = openSync(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0));
    try {
      confirmOpened(fd, path);
      const stats = fstatSync(fd);
      const opened = process.platform === "linux" ? `/proc/self/fd/${fd}` : path;
      return known !== undefined && hasStamp(known, stats) ? known : this.#readEntries(path, opened, stats);
    } finally {
      closeSync(fd);
    }
  }

  #readEntries(path: string, opened: string, stats: Stats): Listing | undefined {
    if (stats.size > this.#limits.directory) return undefined;
    const found = readdirSync(opened, { withFileTypes: true });
    if (found.length * bytesOfEntry > this.#limits.directory) return undefined;
    const settled = Date.now() - Math.max(stats.mtimeMs, stats.ctimeMs) > settledMs;
    const { dev, ino, mtimeMs, ctimeMs } = stats;
    const listing = toListing(found, settled ? { dev, ino, mtimeMs, ctimeMs } : undefined);
    this.#count += listing.names.length + 1;
    if (this.#count > this.#limits.kept) {
      this.#cached.clear();
      this.#chains.clear();
      this.#count = 0;
    }
    if (settled) this.#cached.set(path, listing);
    else this.#cached.delete(path);
    return listing;
  }

  #chainFor(path: string, text: string, parent: RuleChain | undefined): RuleChain | undefined {
    if (text === "") return parent;
    const known = this.#chains.get(path);
    if (known !== undefined && known.text === text && known.chain.parent === parent) return known.chain;
    const own = known?.text === text ? known.chain.own : compileIgnoreRules(text);
    const cost = (own?.cost ?? 0) + (parent?.cost ?? 0);
    const chain = { own, cost, base: path.length + (path.endsWith("/") ? 0 : 1), parent };
    this.#chains.set(path, { text, chain });
    return chain;
  }

  #foldersAbove(path: string): string[] {
    const above: string[] = [];
    for (let at = path; statSync(join(at, ".git"), { throwIfNoEntry: false }) === undefined; ) {
      const parent = at.slice(0, Math.max(at.lastIndexOf("/"), 0)) || "/";
      if (parent === at || /^[A-Za-z]:$/.test(at)) break;
      const isInside = (root: string): boolean => parent === root || parent.startsWith(join(root, ""));
      if (this.#roots !== undefined && !this.#roots.some(isInside)) break;
      above.unshift(parent);
      at = parent;
    }
    return above;
  }

  /** Reads a folder's .gitignore; empty where there is none, or where it is a link or cannot be read. */
  #readIgnoreFile(folder: string): string | undefined {
    const path = join(folder, ignoreFile);
    let fd: number | undefined;
    try {
      fd = openFile(path, this.#confined);
      const bytes = Buffer.allocUnsafe(Math.min(fstatSync(fd).size, longestIgnoreFile));
      return bytes.length > this.#limits.ignoreFile ? undefined : bytes.toString("utf8", 0, readSync(fd, bytes));
    } catch {
      return "";
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }
}

function visibleOf(
  { names: all }: Listing,
  path: string,
  rules: RuleChain | undefined,
  denied: DeniedPaths | undefined,
): VisibleDirectory {
  const isAllowed = (name: string): boolean => denied?.match(join(path, bare(name)), name.endsWith("/")) === undefined;
  const allowed = denied === undefined ? all : all.filter(isAllowed);
  const names = withoutIgnored(allowed, path, rules);
  const visible = new Set(names);
  const ignored = names.length === allowed.length ? [] : allowed.filter((name) => !visible.has(name));
  return { names, ignored, rules, leftOut: all.length - allowed.length };
}

function isHidden(name: string, path: string, rules: RuleChain | undefined): boolean {
  return withoutIgnored([name], path, rules).length === 0;
}

function withoutIgnored(names: readonly string[], path: string, rules: RuleChain | undefined): readonly string[] {
  const levels: { own: IgnoreRules; folder: string }[] = [];
  for (let chain = rules; chain !== undefined; chain = chain.parent) {
    const { own, base } = chain;
    if (own !== undefined) levels.push({ own, folder: path.length > base ? `${path.slice(base)}/` : "" });
  }
  if (levels.length === 0) return names;
  const visible = names.filter((entry) => {
    const name = bare(entry);
    for (const { own, folder } of levels) {
      const decided = own.decide(name, folder, name !== entry);
      if (decided !== undefined) return !decided;
    }
    return true;
  });
  return visible.length === names.length ? names : visible;
}

/** Returns a name without the `/` of a directory. */
function bare(name: string): string {
  return name.endsWith("/") ? name.slice(0, -1) : name;
}

function toListing(found: readonly Dirent[], stamp: Stamp | undefined): Listing {
  const names: string[] = [];
  let cost = 0;
  let hasIgnoreFile = false;
  let hasRepository = false;
  for (const entry of found) {
    const { name } = entry;
    const isFile = entry.isFile();
    if (name === ".git") hasRepository = true;
    else if (isFile || entry.isDirectory()) {
      // So a directory sorts where its paths do.
      names.push(isFile ? name : `${name}/`);
      cost += 1 + name.length / 8;
    }
    if (isFile && name === ignoreFile) hasIgnoreFile = true;
  }
  names.sort();
  const unseen = { ignoreText: "", inherited: undefined, visible: undefined };
  return { stamp, names, cost, hasIgnoreFile, hasRepository, ...unseen };
}

function hasStamp({ stamp }: Listing, { dev, ino, mtimeMs, ctimeMs }: Stats): boolean {
  return stamp?.ctimeMs === ctimeMs && stamp.mtimeMs === mtimeMs && stamp.ino === ino && stamp.dev === dev;
}

/** Joins with `/`, also below the file system's root. */
function join(directory: string, name: string): string {
  return directory.endsWith("/") ? directory + name : `${directory}/${name}`;
}
