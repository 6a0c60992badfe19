import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { join, resolve as resolveLexically, sep } from "node:path";
import { invalidArgument, ToolError } from "../errors.ts";
import { quote } from "../json.ts";
import { kindOf } from "../options.ts";
import { printableName, shownName } from "../text.ts";
import { descriptorPath } from "./descriptors.ts";
import { absoluteFrom, longestPath, takeApart, withSlashes } from "./pathStyle.ts";
import { plainSystemError, systemErrorCode } from "./systemErrors.ts";

export interface PathScopeOptions {
  /** What relative paths are relative to. Default: the process's, read at each call; the first root where that lies outside every root. */
  cwd?: string | undefined;
  /** One directory or several that no path may leave. Left out: no limit. `undefined` is refused, as is anything else that is not the path of a directory. */
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
  /**
   * The path with everything but its last name resolved: a link there is itself meant. Throws `permission_denied` where a link
   * is named with `/`, `/.` or `NAME/..` after it, which could mean the link or what it leads to.
   */
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

/** Throws a TypeError unless `root` and `cwd` are paths of directories. `root: undefined` too: a limit was meant, and is missing. */
export function createPathScope(options: PathScopeOptions = {}): PathScope {
  const roots = "root" in options ? canonicalRoots(options.root) : undefined;
  checkCwd(options.cwd);
  const contains = (canonical: string): boolean =>
    roots === undefined || roots.some((root) => isInside(root, canonical));

  const fixed = options.cwd === undefined ? undefined : canonical(resolveLexically(options.cwd));
  const readCwd = (): string => {
    if (fixed !== undefined) return fixed;
    const own = process.cwd();
    return contains(own) ? own : (roots?.[0] ?? own);
  };
  const refuseOutside = (found: string, shown: () => string): void => {
    if (roots === undefined || contains(found)) return;
    const path = shown();
    throw new ToolError({
      code: "permission_denied",
      message: `Permission denied: ${shownName(path)} is outside ${roots.map(printableName).join(", ")}; use a path inside`,
      details: { path, roots },
    });
  };
  const ambiguousLink = (link: string, path: string): ToolError => {
    const target = canonicalOrUndefined(link);
    const shown = target !== undefined && contains(target) ? printFrom(readCwd, target) : "its path";
    return new ToolError({
      code: "permission_denied",
      message: `Refused: ${shownName(path)} can mean a link or what it leads to; for the link itself pass ${printFrom(readCwd, link)}, for what it leads to pass ${shown}`,
      details: { path },
    });
  };
  const confined = async (path: string, argument: string, find: (absolute: string) => string): Promise<string> => {
    checkPath(path, argument);
    let found: string;
    try {
      found = find(absoluteFrom(readCwd, path));
    } catch (error) {
      throw plainSystemError(error, shownName(path));
    }
    refuseOutside(found, () => path);
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
        const plain = withoutDirectoryEnd(absolute);
        const climbs = plain.endsWith(`${sep}..`);
        const entry = namedEntry(climbs ? resolveLexically(plain) : plain);
        if (plain === absolute && !climbs) return entry;
        refuseOutside(entry, () => path);
        const stats = lstatSync(entry, { throwIfNoEntry: false });
        if (stats?.isSymbolicLink()) throw ambiguousLink(entry, path);
        if (climbs) return canonical(plain);
        if (stats && !stats.isDirectory()) throw systemError("ENOTDIR");
        return entry;
      }),
    confirm(descriptor, path) {
      if (roots === undefined) return;
      refuseOutside(descriptorPath(descriptor) ?? canonical(path), () => printFrom(readCwd, path));
    },
    print: (absolute) => printFrom(readCwd, absolute),
  };
}

/** True for `directory` itself and everything below it; compared by whole names. */
export function isInside(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

function canonicalRoots(root: unknown): readonly string[] {
  const given: readonly unknown[] = Array.isArray(root) ? root : [root];
  if (given.length === 0 || given.includes("")) {
    throw new TypeError("root must name at least one directory, none of them empty: leave it out for no limit");
  }
  const paths = given.filter(isDirectoryPath);
  if (paths.length < given.length) {
    const wrong = given.find((one) => !isDirectoryPath(one));
    throw new TypeError(
      `root must be the path of a directory, or an array of such, got ${shown(wrong)}: ${remedy(wrong)}`,
    );
  }
  return Object.freeze(paths.map((one) => canonical(resolveLexically(one))));
}

function checkCwd(cwd: unknown): void {
  if (cwd === "") throw new TypeError("cwd must not be empty: leave it out for the process's directory");
  if (cwd === undefined || isDirectoryPath(cwd)) return;
  throw new TypeError(`cwd must be the path of a directory, got ${shown(cwd)}: ${remedy(cwd)}`);
}

const urlStart = /^[a-z][a-z0-9+.-]+:\/\//i;

function isDirectoryPath(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !value.includes("\0") && !urlStart.test(value);
}

function shown(value: unknown): string {
  return typeof value === "string" ? quote(value) : kindOf(value);
}

function remedy(value: unknown): string {
  const isUrl = typeof value === "string" ? urlStart.test(value) : kindOf(value) === "an instance of URL";
  if (isUrl) return "fileURLToPath of node:url makes a path of a file URL";
  return value === undefined ? "leave the option out for the default" : "pass a string such as process.cwd()";
}

function checkPath(path: string, argument: string): void {
  const reason = whatIsWrong(path);
  if (reason !== undefined) throw invalidArgument(argument, `${reason}; pass a file or directory path`);
}

/** A tool that is called without a registry may get anything. */
function whatIsWrong(path: unknown): string | undefined {
  if (typeof path !== "string") return "must be a string";
  if (path === "") return "must not be empty";
  // First: what follows looks at every character, and a path of many names is resolved name by name.
  if (path.length > longestPath || Buffer.byteLength(path) > longestPath) return `is longer than ${longestPath} bytes`;
  return path.includes("\0") ? "must not contain a NUL character" : undefined;
}

/**
 * Every link followed, also where the path does not exist. Synchronous: it takes microseconds, while a turn in the thread pool
 * can take longer than the write itself.
 */
export function canonical(absolute: string): string {
  try {
    return realpathSync.native(absolute);
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
    return followByHand(absolute);
  }
}

export function canonicalOrUndefined(absolute: string): string | undefined {
  try {
    return canonical(absolute);
  } catch {
    return undefined;
  }
}

/** Without the `/` and `/.` at its end, which ask for a directory; the root stays. */
function withoutDirectoryEnd(absolute: string): string {
  let end = absolute.length;
  while (absolute[end - 1] === sep || (absolute[end - 1] === "." && absolute[end - 2] === sep)) end -= 1;
  return absolute.slice(0, Math.max(end, absolute.indexOf(sep) + 1));
}

/** The canonical path but for its last name, which is not followed. */
function namedEntry(absolute: string): string {
  const cut = absolute.lastIndexOf(sep) + 1;
  return join(canonical(absolute.slice(0, cut)), absolute.slice(cut));
}

/** Linux follows as many. */
const linkLimit = 40;

/**
 * Follows a path of which some part is missing, name by name. Missing names are kept, and every name after a `..` is looked
 * at again, so `missing/../link` cannot hide a link. What is done is canonical, so `join` may take `..` off it.
 */
function followByHand(absolute: string): string {
  let [done, names] = existingHead(absolute);
  let links = 0;
  while (names.length > 0) {
    const path = join(done, names.pop() as string);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink()) {
      links += 1;
      if (links > linkLimit) throw systemError("ELOOP");
      const target = takeApart(readlinkSync(path));
      if (target.root !== "") done = target.root;
      names = names.concat(target.names);
      continue;
    }
    if (stats && !stats.isDirectory() && names.length > 0) throw systemError("ENOTDIR");
    done = path;
  }
  return done;
}

/**
 * The longest head of a path that exists, resolved, and the names after it, the last one first. Sought from the end: what is
 * above may be closed to this process.
 */
function existingHead(absolute: string): [head: string, names: string[]] {
  const { root, names } = takeApart(absolute);
  for (let cut = absolute.lastIndexOf(sep); cut >= root.length; cut = absolute.lastIndexOf(sep, cut - 1)) {
    try {
      return [
        realpathSync.native(absolute.slice(0, cut)),
        absolute
          .slice(cut + 1)
          .split(sep)
          .reverse(),
      ];
    } catch (error) {
      if (systemErrorCode(error) !== "ENOENT") throw error;
    }
  }
  return [root, names];
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function printFrom(readCwd: () => string, absolute: string): string {
  return printableName(withSlashes(relativeTo(readCwd, absolute)));
}

function relativeTo(readCwd: () => string, absolute: string): string {
  let cwd: string;
  try {
    cwd = readCwd();
  } catch {
    // The process's directory was removed: nothing is relative to it.
    return absolute;
  }
  if (absolute === cwd) return ".";
  return isInside(cwd, absolute) ? absolute.slice(cwd.endsWith(sep) ? cwd.length : cwd.length + 1) : absolute;
}
