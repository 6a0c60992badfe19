import { lstatSync } from "node:fs";
import { join, resolve as resolveLexically, sep } from "node:path";
import { invalidArgument, ToolError } from "../errors.ts";
import { printableName, shownName } from "../text.ts";
import { canonical, canonicalOrUndefined, systemError } from "./canonicalPath.ts";
import { compileDenyRules, type DeniedPaths } from "./deniedPaths.ts";
import { descriptorPath } from "./descriptors.ts";
import { absoluteFrom, longestPath, withSlashes } from "./pathStyle.ts";
import { canonicalDirectories, checkCwd, checkDeny, type PathScopeOptions } from "./scopeOptions.ts";
import { plainSystemError } from "./systemErrors.ts";

/** What is to be done to a path. */
export type PathUse = "read" | "write";

/** Where a pack's paths start, and what they may not leave. */
export interface PathScope {
  /** Absolute and canonical; a given one is fixed when the scope is made. */
  readonly cwd: string;
  /** Canonical, fixed when the scope was made; undefined where nothing confines. */
  readonly roots: readonly string[] | undefined;
  /** The directories for reading alone, canonical. */
  readonly readable: readonly string[];
  /** What `deny` binds; undefined where nothing is denied. */
  readonly denied: DeniedPaths | undefined;
  /**
   * The canonical absolute path: every symlink followed, the last too, also where the path does not exist yet. `argument`
   * is the name that errors give it. Throws a ToolError: `invalid_arguments` for an empty path or one with a NUL,
   * `permission_denied` outside the roots, for a denied path, or for a write (the default) where only reading is allowed, a
   * system error in plain words otherwise.
   */
  resolve(path: string, argument?: string, use?: PathUse): Promise<string>;
  /**
   * The path with everything but its last name resolved: a link there is itself meant. Throws `permission_denied` where a link
   * is named with `/`, `/.` or `NAME/..` after it, which could mean the link or what it leads to.
   */
  resolveEntry(path: string, argument?: string): Promise<string>;
  /** Whether a canonical path lies inside the roots (always, without roots). */
  contains(canonical: string): boolean;
  /**
   * Checks what a descriptor really opened, against a link swapped in after `resolve`; throws `permission_denied`. Exact on
   * Linux (/proc); elsewhere `path` is resolved once more, which leaves a short race. `name` is an entry of the opened directory
   * that is meant.
   */
  confirm(descriptor: number, path: string, how?: { use?: PathUse; name?: string }): void;
  /** Relative to `cwd` if inside it, else absolute; with `/`; quoted as JSON where it holds control characters. */
  print(absolute: string): string;
}

/** Throws a TypeError for invalid options. `root: undefined` too: a limit was meant, and is missing. */
export function createPathScope(options: PathScopeOptions = {}): PathScope {
  const roots = "root" in options ? canonicalDirectories("root", options.root) : undefined;
  const readable = "readable" in options ? canonicalDirectories("readable", options.readable) : [];
  checkCwd(options.cwd);
  const contains = (canonical: string): boolean =>
    roots === undefined || roots.some((root) => isInside(root, canonical));

  const fixed = options.cwd === undefined ? undefined : canonical(resolveLexically(options.cwd));
  const readCwd = (): string => {
    if (fixed !== undefined) return fixed;
    const own = process.cwd();
    return contains(own) ? own : (roots?.[0] ?? own);
  };
  const patterns = "deny" in options ? checkDeny(options.deny) : [];
  // Fixed now, as the roots are: what is denied must not change with the process's directory.
  const denied =
    patterns.length === 0 ? undefined : compileDenyRules({ patterns, roots: roots ?? [fixed ?? process.cwd()] });

  const refuse = (path: string, why: string, pattern?: string): ToolError =>
    new ToolError({
      code: "permission_denied",
      message: `Permission denied: ${shownName(path)} ${why}`,
      details: { path, ...(roots && { roots }), ...(pattern !== undefined && { pattern }) },
    });
  const list = (directories: readonly string[]): string => directories.map(printableName).join(", ");
  const refuseOutside = (found: string, use: PathUse, shown: () => string): void => {
    if (use === "read") {
      if (contains(found) || deepest(readable, found) >= 0) return;
      throw refuse(shown(), `is outside ${list([...(roots ?? []), ...readable])}; use a path inside`);
    }
    if (!contains(found)) throw refuse(shown(), `is outside ${list(roots ?? [])}; use a path inside`);
    const within = deepest(readable, found);
    // The directory next to the path decides where one lies in another.
    if (within < 0 || within < deepest(roots ?? [], found)) return;
    throw refuse(shown(), `is in ${list(readable)}, for reading alone; write elsewhere`);
  };
  const refuseDenied = (path: string, shown: () => string): void => {
    const pattern = denied?.match(path);
    if (pattern === undefined) return;
    throw refuse(shown(), "is on the list of denied paths; use another path", pattern);
  };
  const ambiguousLink = (link: string, path: string): ToolError => {
    const target = canonicalOrUndefined(link);
    const shown =
      target !== undefined && contains(target) && !denied?.match(target) ? printFrom(readCwd, target) : "its path";
    return new ToolError({
      code: "permission_denied",
      message: `Refused: ${shownName(path)} can mean a link or what it leads to; for the link itself pass ${printFrom(readCwd, link)}, for what it leads to pass ${shown}`,
      details: { path },
    });
  };
  const confined = async (
    path: string,
    argument: string,
    use: PathUse,
    find: (absolute: string) => string,
  ): Promise<string> => {
    checkPath(path, argument);
    let found: string;
    try {
      const absolute = absoluteFrom(readCwd, path);
      // First, so that no other error tells what is there.
      refuseDenied(absolute, () => path);
      found = find(absolute);
    } catch (error) {
      throw plainSystemError(error, shownName(path));
    }
    refuseOutside(found, use, () => path);
    refuseDenied(found, () => path);
    return found;
  };

  return {
    get cwd() {
      return readCwd();
    },
    roots,
    readable,
    denied,
    contains,
    resolve: (path, argument = "path", use = "write") => confined(path, argument, use, canonical),
    resolveEntry: (path, argument = "path") =>
      confined(path, argument, "write", (absolute) => {
        const plain = withoutDirectoryEnd(absolute);
        const climbs = plain.endsWith(`${sep}..`);
        const entry = namedEntry(climbs ? resolveLexically(plain) : plain);
        if (plain === absolute && !climbs) return entry;
        refuseOutside(entry, "write", () => path);
        refuseDenied(entry, () => path);
        const stats = lstatSync(entry, { throwIfNoEntry: false });
        if (stats?.isSymbolicLink()) throw ambiguousLink(entry, path);
        if (climbs) return canonical(plain);
        if (stats && !stats.isDirectory()) throw systemError("ENOTDIR");
        return entry;
      }),
    confirm(descriptor, path, { use = "write", name } = {}) {
      if (roots === undefined && readable.length === 0 && denied === undefined) return;
      const opened = descriptorPath(descriptor) ?? canonical(path);
      const shown = (): string => printFrom(readCwd, name === undefined ? path : join(path, name));
      refuseOutside(opened, use, shown);
      refuseDenied(name === undefined ? opened : join(opened, name), shown);
    },
    print: (absolute) => printFrom(readCwd, absolute),
  };
}

/** True for `directory` itself and everything below it; compared by whole names. */
export function isInside(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** The length of the longest of the directories that contain a path; -1 where none does. */
function deepest(directories: readonly string[], path: string): number {
  return Math.max(-1, ...directories.filter((one) => isInside(one, path)).map((one) => one.length));
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
