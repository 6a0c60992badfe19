import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, dirname, join, parse, resolve } from "node:path";
import { ToolError } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { isInside, mountPoints, type PathScope } from "@toolcrib/kit/files";

/**
 * Throws for paths that `remove` and `move` must never touch: the filesystem root and its direct children, the home directory, the
 * working directory, the roots, directories for reading alone, every directory above these, and directories with another filesystem mounted inside. `entry` is
 * canonical except for its last name (`PathScope.resolveEntry`). Compares paths and inodes, so another spelling is refused too.
 */
export function refuseProtected(entry: string, scope: PathScope): void {
  const refuse = (what: string): ToolError<"permission_denied"> =>
    new ToolError({
      code: "permission_denied",
      message: `Refused: ${scope.print(entry)} is ${what}; name something inside it`,
      details: { path: entry },
    });
  const top = parse(entry).root;
  if (entry === top) throw refuse("the filesystem root");
  if (dirname(entry) === top) throw refuse("a direct child of the filesystem root");
  const stats = look(entry, lstatSync);
  for (const [what, path] of protectedDirectories(scope)) {
    for (const [above, canonical] of spellings(path)) {
      const isThis = entry === above || sameFile(stats, look(canonical, statSync));
      if (isThis || isInside(entry, canonical)) {
        throw refuse(isThis && (path === above || path === canonical) ? what : `above ${what}`);
      }
    }
  }
  const mounts = mountPoints();
  if (mounts.includes(entry) && !stats?.isDirectory()) {
    const message = `Refused: ${scope.print(entry)} is a mount, which only the one who mounted it can move or remove; write_file and edit_file change what it holds`;
    throw new ToolError({ code: "permission_denied", message, details: { path: entry } });
  }
  if (mounts.some((point) => isInside(entry, point)))
    throw refuse("where another filesystem is mounted, or above such a place");
}

function protectedDirectories(scope: PathScope): [what: string, path: string][] {
  const found: [string, string | undefined][] = [
    ["the working directory", attempt(() => scope.cwd)],
    ["the working directory", attempt(() => process.cwd())],
    ["the home directory", attempt(() => homedir())],
    ["the home directory", attempt(() => userInfo().homedir)],
    ...(scope.roots ?? []).map((root): [string, string] => ["a root directory", root]),
    ...scope.readable.map((one): [string, string] => ["a read-only directory", one]),
  ];
  return found.filter((one): one is [string, string] => Boolean(one[1]));
}

/** Returns the path and every directory above it, each with its last name not followed and with every link followed. */
function spellings(path: string): [spelled: string, canonical: string][] {
  const list: [string, string][] = [];
  for (let one = resolve(path); dirname(one) !== one; one = dirname(one)) {
    const above = attempt(() => realpathSync.native(dirname(one))) ?? dirname(one);
    list.push([join(above, basename(one)), attempt(() => realpathSync.native(one)) ?? one]);
  }
  return list;
}

function look(
  path: string,
  stat: (path: string, options: { throwIfNoEntry: false }) => Stats | undefined,
): Stats | undefined {
  return attempt(() => stat(path, { throwIfNoEntry: false }));
}

function sameFile(a: Stats | undefined, b: Stats | undefined): boolean {
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}
