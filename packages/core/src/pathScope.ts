import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, parse, resolve as resolveLexically, sep } from "node:path";
import { descriptorPath } from "./descriptors.ts";
import { ToolError } from "./errors.ts";
import { plainSystemError, systemErrorCode } from "./systemErrors.ts";
import { clip, printableName } from "./text.ts";

export interface PathScopeOptions {
  /** What relative paths are relative to. Default: the process's, read at each call; the first root where that lies outside every root. */
  cwd?: string | undefined;
  /** One directory or several that no path may leave. Default: no limit. */
  root?: string | readonly string[] | undefined;
}

/** Where a pack's paths start, and what they may not leave. */
export interface PathScope {
  /** Absolute and canonical; a given one is fixed when the scope is made. */
  readonly cwd: string;
  /** Canonical, fixed when the scope was made; undefined where nothing confines. */
  readonly roots: readonly string[] | undefined;
  /**
   * The canonical absolute path: every symlink followed, the last too, also where the path does not exist yet. `argument`
   * is the name that errors give it. Throws a ToolError: `invalid_arguments` for an empty path or one with a NUL,
   * `permission_denied` outside the roots, a system error in plain words otherwise.
   */
  resolve(path: string, argument?: string): Promise<string>;
  /** As `resolve`, but a link without a trailing slash is itself meant; with `/` or `/.` its target. */
  resolveEntry(path: string, argument?: string): Promise<string>;
  /** Whether a canonical path lies inside the roots (always, without roots). */
  contains(canonical: string): boolean;
  /**
   * Checks what a descriptor really opened, against a link swapped in after `resolve`; throws `permission_denied`. Exact on
   * Linux (/proc); elsewhere `path` is resolved once more, which leaves a short race.
   */
  confirm(descriptor: number, path: string): void;
  /** Relative to `cwd` if inside it, else absolute; with `/`; quoted as JSON where it holds control characters. */
  print(absolute: string): string;
}

/** Throws a TypeError for an empty `root` or `cwd`: neither can be meant. */
export function createPathScope(options: PathScopeOptions = {}): PathScope {
  const roots = options.root === undefined ? undefined : canonicalRoots(options.root);
  if (options.cwd === "") throw new TypeError("cwd must not be empty: leave it out for the process's directory");
  const contains = (canonical: string): boolean =>
    roots === undefined || roots.some((root) => isInside(root, canonical));

  const fixed = options.cwd === undefined ? undefined : canonical(resolveLexically(options.cwd));
  const readCwd = (): string => {
    if (fixed !== undefined) return fixed;
    const own = process.cwd();
    return contains(own) ? own : (roots?.[0] ?? own);
  };
  const denied = (path: string): ToolError<"permission_denied"> =>
    new ToolError({
      code: "permission_denied",
      message: `Permission denied: ${clip(printableName(path))} is outside ${(roots ?? []).map(printableName).join(", ")}; use a path inside`,
      details: { path, roots: roots ?? [] },
    });
  const confined = async (path: string, argument: string, find: (absolute: string) => string): Promise<string> => {
    checkPath(path, argument);
    let found: string;
    try {
      found = find(absoluteOf(path, readCwd));
    } catch (error) {
      throw plainSystemError(error, clip(printableName(path)));
    }
    if (!contains(found)) throw denied(path);
    return found;
  };

  return {
    get cwd() {
      return readCwd();
    },
    roots,
    contains,
    resolve: (path, argument = "path") => confined(path, argument, canonical),
    resolveEntry: (path, argument = "path") =>
      confined(path, argument, (absolute) => {
        const { parent, name } = splitEntry(absolute);
        return name === undefined ? canonical(absolute) : join(canonical(parent), name);
      }),
    confirm(descriptor, path) {
      if (roots === undefined) return;
      const opened = descriptorPath(descriptor) ?? canonical(path);
      if (!contains(opened)) throw denied(printFrom(readCwd, path));
    },
    print: (absolute) => printFrom(readCwd, absolute),
  };
}

/** True for `directory` itself and everything below it; compared by whole names. */
export function isInside(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

function canonicalRoots(root: string | readonly string[]): readonly string[] {
  const given = typeof root === "string" ? [root] : root;
  if (given.length === 0 || given.includes("")) {
    throw new TypeError("root must name at least one directory, none of them empty: leave it out for no limit");
  }
  return Object.freeze(given.map((one) => canonical(resolveLexically(one))));
}

function checkPath(path: string, argument: string): void {
  const reason =
    path === "" ? "must not be empty" : path.includes("\0") ? "must not contain a NUL character" : undefined;
  if (reason === undefined) return;
  throw new ToolError({
    code: "invalid_arguments",
    message: `Invalid arguments: ${argument} ${reason}; pass a file or directory path`,
    details: { field: argument, reason },
  });
}

/** Not normalised on POSIX: there `link/..` is the parent of the link's target. */
function absoluteOf(path: string, readCwd: () => string): string {
  if (sep === "\\") return resolveLexically(readCwd(), path) + (/[\\/]\.?$/.test(path) ? sep : "");
  return isAbsolute(path) ? path : `${readCwd()}/${path}`;
}

function splitEntry(absolute: string): { parent: string; name?: string } {
  const cut = absolute.lastIndexOf(sep) + 1;
  const name = absolute.slice(cut);
  return name === "" || name === "." || name === ".." ? { parent: absolute } : { parent: absolute.slice(0, cut), name };
}

/** At once, not in the thread pool: it takes microseconds, and a write would wait longer for its turn than for the disk. */
function canonical(absolute: string): string {
  try {
    return realpathSync.native(absolute);
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
    return followByHand(absolute);
  }
}

/** As many as Linux follows. */
const linkLimit = 40;

/**
 * Follows a path of which some part is missing, name by name. Missing names are kept, and every name after a `..` is looked
 * at again, so `missing/../link` cannot hide a link.
 */
function followByHand(absolute: string): string {
  let done = parse(absolute).root;
  let names = absolute.slice(done.length).split(sep).reverse();
  let links = 0;
  while (names.length > 0) {
    const name = names.pop() as string;
    if (name === "" || name === ".") continue;
    if (name === "..") {
      done = dirname(done);
      continue;
    }
    const path = join(done, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink()) {
      links += 1;
      if (links > linkLimit) throw Object.assign(new Error("too many links"), { code: "ELOOP" });
      const target = readlinkSync(path);
      if (isAbsolute(target)) done = parse(target).root;
      names = names.concat(
        target
          .slice(isAbsolute(target) ? done.length : 0)
          .split(sep)
          .reverse(),
      );
      continue;
    }
    if (stats && !stats.isDirectory() && names.length > 0) {
      throw Object.assign(new Error("not a directory"), { code: "ENOTDIR" });
    }
    done = path;
  }
  return done;
}

function printFrom(readCwd: () => string, absolute: string): string {
  let path = absolute;
  let cwd: string | undefined;
  try {
    cwd = readCwd();
  } catch {
    // The process's directory was removed: nothing is relative to it.
  }
  if (cwd === undefined) path = absolute;
  else if (absolute === cwd) path = ".";
  else if (isInside(cwd, absolute)) path = absolute.slice(cwd.endsWith(sep) ? cwd.length : cwd.length + 1);
  return printableName(sep === "\\" ? path.replaceAll("\\", "/") : path);
}
