import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, type Stats, statSync } from "node:fs";
import { compileDenyRules, type DeniedPaths, type DenyRules } from "@toolcrib/core/files";
import { BeginAnew, checkSize, type SizeLimits } from "../shared/beginAnew.ts";
import { compileIgnoreRules, type IgnoreRules } from "./ignoreRules.ts";
import { confirmOpened } from "./readWindows.ts";

/** The ignore rules in force in one directory: its own and, through `parent`, those above. */
export interface RuleChain {
  readonly own: IgnoreRules | undefined;
  /** Of all rules in force. */
  readonly cost: number;
  /** Length of the directory's path with its `/`. */
  readonly base: number;
  readonly parent: RuleChain | undefined;
}

/** What a directory shows: the names not ignored, in the order of their paths, and the rules for what is below. */
export interface VisibleDirectory {
  /** That of a directory ends in `/`. */
  readonly names: readonly string[];
  readonly rules: RuleChain | undefined;
  /** Denied names, which are not among them. */
  readonly leftOut: number;
}

/** Lists directories. Listings that have not changed are kept from call to call. */
export interface DirectoryLister {
  /** `path` is absolute, without a final `/`. Throws a system error. */
  list(path: string, inherited: RuleChain | undefined): VisibleDirectory;
  /** The rules that come from above a start directory: down from its repository's root, or the file system's. */
  rulesAbove(path: string): RuleChain | undefined;
}

/** Kept for each directory, so without the rest of its `Stats`. */
type Stamp = Pick<Stats, "dev" | "ino" | "mtimeMs" | "ctimeMs">;

interface Listing {
  /** Undefined where it may not be kept. */
  stamp: Stamp | undefined;
  names: readonly string[];
  /** How long it takes to compare them with a rule: longer names take longer. */
  cost: number;
  hasIgnoreFile: boolean;
  hasRepository: boolean;
  ignoreText: string;
  inherited: RuleChain | undefined;
  visible: VisibleDirectory | undefined;
}

/** What changed less than this many ms before it was read may change again without a new time. */
export const settledMs = 3000;
/** What an entry adds to the size of its directory, which Windows and some file systems do not tell. */
const bytesOfEntry = 24;
/** Entries kept at most; beyond that the cache is emptied. */
const mostCached = 400_000;
/** Only so much of a longer .gitignore is read. */
const longestIgnoreFile = 2 ** 20;

/** Nothing outside `roots` is opened, and nothing that `deny` binds is shown. What is larger than `sizes` throws `BeginAnew`. */
export function createDirectoryLister(
  roots: readonly string[] | undefined,
  deny?: DenyRules,
  sizes?: SizeLimits,
): DirectoryLister {
  const confined = roots !== undefined || deny !== undefined;
  const denied = deny === undefined ? undefined : compileDenyRules(deny);
  const denyCost = deny?.patterns.length ?? 0;
  const cached = new Map<string, Listing>();
  const chains = new Map<string, { text: string; chain: RuleChain }>();
  let count = 0;

  const readListing = (path: string): Listing => {
    const known = cached.get(path);
    if (!confined) {
      const stats = statSync(path);
      if (known !== undefined && hasStamp(known, stats)) return known;
      checkSize(stats.size, sizes?.directory);
      return store(path, stats, readEntries(path));
    }
    const fd = openSync(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0));
    try {
      confirmOpened(fd, path);
      const stats = fstatSync(fd);
      if (known !== undefined && hasStamp(known, stats)) return known;
      checkSize(stats.size, sizes?.directory);
      const opened = process.platform === "linux" ? `/proc/self/fd/${fd}` : path;
      return store(path, stats, readEntries(opened));
    } finally {
      closeSync(fd);
    }
  };

  const store = (path: string, stats: Stats, found: ReturnType<typeof readEntries>): Listing => {
    checkSize(found.length * bytesOfEntry, sizes?.directory);
    const settled = Date.now() - Math.max(stats.mtimeMs, stats.ctimeMs) > settledMs;
    const { dev, ino, mtimeMs, ctimeMs } = stats;
    const listing = toListing(found, settled ? { dev, ino, mtimeMs, ctimeMs } : undefined);
    count += listing.names.length + 1;
    if (count > (sizes?.remembered ?? mostCached)) {
      cached.clear();
      chains.clear();
      count = 0;
    }
    if (settled) cached.set(path, listing);
    else cached.delete(path);
    return listing;
  };

  const chainFor = (path: string, text: string, parent: RuleChain | undefined): RuleChain | undefined => {
    if (text === "") return parent;
    const known = chains.get(path);
    if (known !== undefined && known.text === text && known.chain.parent === parent) return known.chain;
    const own = known?.text === text ? known.chain.own : compileIgnoreRules(text);
    const cost = (own?.cost ?? 0) + (parent?.cost ?? 0);
    const chain = { own, cost, base: path.length + (path.endsWith("/") ? 0 : 1), parent };
    chains.set(path, { text, chain });
    return chain;
  };

  return {
    list(path, inherited) {
      const listing = readListing(path);
      const above = listing.hasRepository ? undefined : inherited;
      const text = listing.hasIgnoreFile ? readIgnoreFile(join(path, ".gitignore"), confined, sizes) : "";
      if (listing.visible === undefined || listing.inherited !== above || listing.ignoreText !== text) {
        const rules = chainFor(path, text, above);
        checkSize(listing.cost * ((rules?.cost ?? 0) + denyCost), sizes?.matches);
        listing.visible = visibleOf(listing, path, rules, denied);
        listing.inherited = above;
        listing.ignoreText = text;
      }
      return listing.visible;
    },
    rulesAbove(path) {
      const above: string[] = [];
      for (let at = path; !hasRepository(at); ) {
        const parent = at.slice(0, Math.max(at.lastIndexOf("/"), 0)) || "/";
        if (parent === at || /^[A-Za-z]:$/.test(at)) break;
        if (roots !== undefined && !roots.some((root) => parent === root || parent.startsWith(join(root, "")))) break;
        above.unshift(parent);
        at = parent;
      }
      return above.reduce<RuleChain | undefined>(
        (chain, at) => chainFor(at, readIgnoreFile(join(at, ".gitignore"), confined, sizes), chain),
        undefined,
      );
    },
  };
}

function visibleOf(
  { names: all }: Listing,
  path: string,
  rules: RuleChain | undefined,
  denied: DeniedPaths | undefined,
): VisibleDirectory {
  const isAllowed = (name: string): boolean => denied?.match(join(path, bare(name)), name.endsWith("/")) === undefined;
  const allowed = denied === undefined ? all : all.filter(isAllowed);
  return { names: withoutIgnored(allowed, path, rules), rules, leftOut: all.length - allowed.length };
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

/** A name without the `/` of a directory. */
function bare(name: string): string {
  return name.endsWith("/") ? name.slice(0, -1) : name;
}

function readEntries(path: string) {
  return readdirSync(path, { withFileTypes: true });
}

function toListing(found: ReturnType<typeof readEntries>, stamp: Stamp | undefined): Listing {
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
    if (isFile && name === ".gitignore") hasIgnoreFile = true;
  }
  names.sort();
  const unseen = { ignoreText: "", inherited: undefined, visible: undefined };
  return { stamp, names, cost, hasIgnoreFile, hasRepository, ...unseen };
}

function hasStamp({ stamp }: Listing, { dev, ino, mtimeMs, ctimeMs }: Stats): boolean {
  return stamp?.ctimeMs === ctimeMs && stamp.mtimeMs === mtimeMs && stamp.ino === ino && stamp.dev === dev;
}

function hasRepository(directory: string): boolean {
  return statSync(join(directory, ".git"), { throwIfNoEntry: false }) !== undefined;
}

/** Empty where there is none, or where it is a link or cannot be read. */
function readIgnoreFile(path: string, confined: boolean, sizes: SizeLimits | undefined): string {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  } catch {
    return "";
  }
  try {
    if (confined) confirmOpened(fd, path);
    const bytes = Buffer.allocUnsafe(Math.min(fstatSync(fd).size, longestIgnoreFile));
    checkSize(bytes.length, sizes?.ignoreFile);
    return bytes.toString("utf8", 0, readSync(fd, bytes));
  } catch (error) {
    if (error instanceof BeginAnew) throw error;
    return "";
  } finally {
    closeSync(fd);
  }
}

/** Joins with `/`, also below the file system's root. */
function join(directory: string, name: string): string {
  return directory.endsWith("/") ? directory + name : `${directory}/${name}`;
}
