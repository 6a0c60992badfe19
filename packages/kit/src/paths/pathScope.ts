import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import { invalidArgument, type ToolEffect, ToolError } from "@toolcrib/core";
import { attempt, checkValues, shownName } from "@toolcrib/core/internal";
import { printableName } from "@toolcrib/core/text";
import { descriptorPath } from "../files/descriptors.ts";
import { plainSystemError } from "../files/systemErrors.ts";
import { type PathSystem, systemError, thisSystem } from "./canonicalPath.ts";
import type { DeniedPaths } from "./deniedPaths.ts";
import { foldCase } from "./foldCase.ts";
import { createPathLimits, isInside, type PathScopeOptions, type PathUse, scopeOptions } from "./pathLimits.ts";
import { absoluteFrom, longestPath, type PathStyle, withSlashes } from "./pathStyle.ts";
import { windowsTrap } from "./windowsNames.ts";

/** The directories that a pack's paths start from and may not leave. */
export interface PathScope {
  /** Absolute and canonical; a given one is fixed when the scope is made. */
  readonly cwd: string;
  /** Canonical, fixed when the scope was made; undefined where nothing confines. */
  readonly roots: readonly string[] | undefined;
  /** The directories for reading alone, canonical. */
  readonly readable: readonly string[];
  /** The rules of `deny`; undefined if nothing is denied. */
  readonly denied: DeniedPaths | undefined;
  /**
   * Returns the canonical absolute path: every symlink followed, the last too, also where the path does not exist yet. `argument`
   * is the name that errors give it. Throws a ToolError: `invalid_arguments` for an empty path or one with a NUL,
   * `permission_denied` outside the roots, for a denied path, or for a write (the default) where only reading is allowed, a
   * system error in plain words otherwise.
   */
  resolve(path: string, argument?: string, use?: PathUse): Promise<string>;
  /**
   * Returns the path with everything but its last name resolved: a link there is itself meant. Throws `permission_denied` where a link
   * is named with `/`, `/.` or `NAME/..` after it, which could mean the link or what it leads to.
   */
  resolveEntry(path: string, argument?: string): Promise<string>;
  /** Returns whether a canonical path lies inside the roots (always, without roots). */
  contains(canonical: string): boolean;
  /**
   * Checks what a descriptor really opened, against a link swapped in after `resolve`; throws `permission_denied`. Exact on
   * Linux (/proc); elsewhere `path` is resolved once more, which leaves a short race. `name` is an entry of the opened directory
   * that is meant.
   */
  confirm(descriptor: number, path: string, how?: { use?: PathUse; name?: string }): void;
  /** Returns a path relative to `cwd` if inside it, else absolute; with `/`: as a path is given to a tool. */
  shorten(absolute: string): string;
  /** Returns the same for people and models: quoted as JSON where it holds control characters. */
  print(absolute: string): string;
}

/** Throws a TypeError for invalid options. `root: undefined` too: a limit was meant, and is missing. */
export function createPathScope(options: PathScopeOptions = {}): PathScope {
  return createScopeIn(thisSystem, options);
}

/** Does the same on a given system: what decides is a pure function of it, so that the paths of each are tested everywhere. */
export function createScopeIn(system: PathSystem, options: PathScopeOptions): PathScope {
  checkValues("createPathScope", options, scopeOptions);
  const { style, canonical, lstat } = system;
  const { sep } = style;
  const fixed = options.cwd === undefined ? undefined : canonical(style.resolve(options.cwd));
  const limits = createPathLimits(options, fixed, system);
  const { roots, readable, denied, contains } = limits;
  const readCwd = (): string => {
    if (fixed !== undefined) return fixed;
    const own = process.cwd();
    return contains(own) ? own : (roots?.[0] ?? own);
  };
  const shorten = (absolute: string): string => withSlashes(relativeTo(readCwd, absolute, style), style);
  const print = (absolute: string): string => printableName(shorten(absolute));
  const ambiguousLink = (link: string, path: string): ToolError => {
    const target = attempt(() => canonical(link));
    const isOpen = target !== undefined && contains(target) && !denied?.match(target);
    return ambiguousPath(path, print(link), isOpen ? print(target) : "its path");
  };
  const confined = async (
    path: string,
    argument: string,
    use: PathUse,
    find: (absolute: string) => string,
  ): Promise<string> => {
    const reason = whatIsWrong(path, style);
    if (reason !== undefined) throw invalidArgument(argument, reason);
    let found: string;
    try {
      refuseHome(readCwd, path, argument, system);
      const absolute = absoluteFrom(readCwd, path, style);
      // First, so that no other error tells what is there.
      limits.refuseOtherShare(absolute, () => path);
      limits.refuseDenied(absolute, () => path);
      found = find(absolute);
    } catch (error) {
      throw plainSystemError(error, shownName(path));
    }
    limits.refuseOutside(found, use, () => path);
    limits.refuseDenied(found, () => path);
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
        const plain = withoutDirectoryEnd(absolute, sep);
        const climbs = plain.endsWith(`${sep}..`);
        const entry = namedEntry(climbs ? style.resolve(plain) : plain, system);
        if (sep === "\\") {
          // First, as a look at the folder would tell what lies outside.
          limits.refuseOutside(entry, "write", () => path);
          refuseShortName(entry, argument, system);
        }
        if (plain === absolute && !climbs) return entry;
        limits.refuseOutside(entry, "write", () => path);
        limits.refuseDenied(entry, () => path);
        const stats = lstat(entry);
        if (stats?.isSymbolicLink()) throw ambiguousLink(entry, path);
        if (climbs) return canonical(plain);
        if (stats && !stats.isDirectory()) throw systemError("ENOTDIR");
        return entry;
      }),
    confirm(descriptor, path, { use = "write", name } = {}) {
      if (!limits.bind) return;
      const opened = descriptorPath(descriptor) ?? canonical(path);
      const shown = (): string => print(name === undefined ? path : style.join(path, name));
      limits.refuseOutside(opened, use, shown);
      limits.refuseDenied(name === undefined ? opened : style.join(opened, name), shown);
    },
    shorten,
    print,
  };
}

function ambiguousPath(path: string, link: string, target: string): ToolError {
  return new ToolError({
    code: "permission_denied",
    message: `Refused: ${shownName(path)} can mean a link or its target; for the link itself pass ${link}, for its target pass ${target}`,
    details: { path },
  });
}

/** Refuses `~`, which a shell would expand: here it would make a folder of that name. One that exists is meant. */
function refuseHome(readCwd: () => string, path: string, argument: string, { style, lstat }: PathSystem): void {
  if (!/^~(?:[\\/]|$)/.test(path) || lstat(absoluteFrom(readCwd, "~", style))) return;
  throw invalidArgument(argument, "`~` is not expanded; give the path in full");
}

/** Says what is wrong with a path: a tool that is called without a registry may get anything. */
function whatIsWrong(path: unknown, { sep }: PathStyle): string | undefined {
  if (typeof path !== "string") return "must be a string; pass a file or directory path";
  if (path === "") return "must not be empty; pass a file or directory path";
  // First: what follows looks at every character, and a path of many names is resolved name by name.
  if (path.length > longestPath || Buffer.byteLength(path) > longestPath)
    return `is longer than ${longestPath} bytes; pass a file or directory path`;
  if (path.includes("\0")) return "must not contain a NUL character; pass a file or directory path";
  return sep === "\\" ? windowsTrap(path) : undefined;
}

/** Removes the `/` and `/.` at its end, which ask for a directory; the root stays. */
function withoutDirectoryEnd(absolute: string, sep: string): string {
  let end = absolute.length;
  while (absolute[end - 1] === sep || (absolute[end - 1] === "." && absolute[end - 2] === sep)) end -= 1;
  return absolute.slice(0, Math.max(end, absolute.indexOf(sep) + 1));
}

/** Returns the canonical path but for its last name, which is not followed. */
function namedEntry(absolute: string, { style, canonical }: PathSystem): string {
  const cut = absolute.lastIndexOf(style.sep) + 1;
  return style.join(canonical(absolute.slice(0, cut)), absolute.slice(cut));
}

/**
 * Throws for the short name (`GIT~1`) that Windows gives a file beside its own: by that name it would be on no list of denied or
 * protected paths.
 */
function refuseShortName(entry: string, argument: string, { style, lstat, list }: PathSystem): void {
  const [folder, name] = [style.resolve(entry, ".."), entry.slice(entry.lastIndexOf(style.sep) + 1)];
  if (!name.includes("~") || lstat(entry) === undefined) return;
  const wanted = foldCase(name);
  if (list(folder).some((listed) => foldCase(listed) === wanted)) return;
  throw invalidArgument(argument, "is a short name of Windows; give the name that a listing shows");
}

function relativeTo(readCwd: () => string, absolute: string, style: PathStyle): string {
  // If the process's directory was removed, nothing is relative to it.
  const cwd = attempt(readCwd);
  if (cwd === undefined) return absolute;
  if (absolute === cwd) return ".";
  return isInside(cwd, absolute, style)
    ? absolute.slice(cwd.endsWith(style.sep) ? cwd.length : cwd.length + 1)
    : absolute;
}

/**
 * Creates an effect on a path (`ExecutableTool.effects`). `given` is the path as the caller named it and `path`
 * what the scope resolved it to.
 */
export function pathEffect(
  kind: "read" | "write" | "delete",
  path: string,
  given: string,
  scope: PathScope,
  tree = false,
): ToolEffect {
  const named = resolve(scope.cwd, given);
  return { kind, path, ...(named !== path && { givenPath: named }), ...(tree && { tree }) };
}

/** Returns false for a file or a link, below which there is nothing; true also for what cannot be looked at, or does not exist yet. */
export function mayHoldEntries(path: string): boolean {
  return attempt(() => lstatSync(path).isDirectory()) ?? true;
}
