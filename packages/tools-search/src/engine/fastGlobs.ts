import { resolve, sep } from "node:path";
import type fastGlob from "fast-glob";
import { readGlobs, segmentsOf } from "./globs.ts";
import type { Globs } from "./job.ts";

/**
 * Matches any globs with fast-glob, which is loaded with the first that needs it: those of some files (paths in order) that match, in
 * order. A hostile glob may match without end.
 */
export async function loadFastGlobs(globs: Globs): Promise<(files: readonly string[]) => string[]> {
  const { default: fastGlob } = await import("fast-glob");
  const { taken, left } = readGlobs(globs);
  return (files) => {
    const names = new Set(taken);
    const found = fastGlob.sync(taken.flatMap(withLiteralNames), {
      cwd: root,
      dot: true,
      followSymbolicLinks: false,
      ignore: left.flatMap(withLiteralNames),
      fs: fileSystemOf(files),
    });
    return [...new Set([...found, ...files.filter((file) => names.has(file))])].sort();
  };
}

/** Patterns made of one at most; beyond that its segments are globs alone. */
const mostVariants = 64;

/** Returns the pattern, and with it those in which segments that could be names stand for themselves. */
function withLiteralNames(pattern: string): string[] {
  const ways = segmentsOf(pattern).map((segment) => {
    const isGroup = /[@!?+*]\(|\|/.test(segment);
    const glob = isGroup ? segment : segment.replace(/\\[\s\S]|[()]/g, (part) => part.padStart(2, "\\"));
    return /[[\](){}\\]/.test(segment) && !segment.includes("/") ? [glob, escapeName(segment)] : [glob];
  });
  if (ways.reduce((count, { length }) => count * length, 1) > mostVariants) return [pattern];
  const join = (heads: string[], way: string[]): string[] =>
    heads.flatMap((head) => way.map((next) => `${head}/${next}`));
  return ways.reduce(join, [""]).map((variant) => variant.slice(1));
}

function escapeName(name: string): string {
  return name.replace(/[\\*?[\](){}!+@|]/g, "\\$&");
}

/** The directory in which fast-glob sees the files. */
const root = resolve("/");

/** Returns the part of `fs` that fast-glob uses, for a tree of these files alone. */
function fileSystemOf(files: readonly string[]): Partial<fastGlob.FileSystemAdapter> {
  const entries = new Map<string, Entry>([["", new Entry("", [])]]);
  const add = (path: string, inside: Entry[] | undefined): Entry => {
    const cut = path.lastIndexOf("/");
    const entry = new Entry(path.slice(cut + 1), inside);
    entries.set(path, entry);
    const folder = path.slice(0, Math.max(cut, 0));
    (entries.get(folder) ?? add(folder, [])).inside?.push(entry);
    return entry;
  };
  for (const file of files) add(file, undefined);
  const find = (path: string): Entry => {
    const slashed = sep === "\\" ? path.replaceAll("\\", "/") : path;
    const found = entries.get(slashed.slice(root.length).replace(/\/$/, ""));
    if (found === undefined) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
    return found;
  };
  const readdirSync = (path: string): Entry[] => find(path).inside ?? [];
  return { readdirSync, lstatSync: find, statSync: find } as unknown as Partial<fastGlob.FileSystemAdapter>;
}

/** The part of a `Dirent`, and of `Stats`, that fast-glob uses. */
class Entry {
  readonly name: string;
  /** Undefined for a file. */
  readonly inside: Entry[] | undefined;

  constructor(name: string, inside: Entry[] | undefined) {
    this.name = name;
    this.inside = inside;
  }
  isFile(): boolean {
    return this.inside === undefined;
  }
  isDirectory(): boolean {
    return this.inside !== undefined;
  }
  isSymbolicLink(): boolean {
    return false;
  }
  isBlockDevice = this.isSymbolicLink;
  isCharacterDevice = this.isSymbolicLink;
  isFIFO = this.isSymbolicLink;
  isSocket = this.isSymbolicLink;
}
