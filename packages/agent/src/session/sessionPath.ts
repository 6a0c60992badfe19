import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { ToolError } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { printableName } from "@toolcrib/core/text";
import type { PathScope, RegularFile } from "@toolcrib/kit/files";

/** The place of a session's file: a canonical path, and a scope that no link swapped in later can leave. */
interface SessionTarget {
  readonly path: string;
  readonly scope: PathScope;
}

/**
 * Finds where a session file may be written. A working directory may hold files of others, so no link below it is followed;
 * elsewhere neither the file nor its folder may be a link. Throws a ToolError `permission_denied` that names the link.
 */
export async function sessionTarget(file: string): Promise<SessionTarget> {
  // Loaded once something is written.
  const { createPathScope, isInside } = await import("@toolcrib/kit/files");
  const absolute = resolve(file);
  const folder = dirname(absolute);
  // Undefined when it was removed.
  const working = attempt(() => process.cwd());
  const isBelow = working !== undefined && isInside(working, folder);
  const trusted = existing(isBelow ? working : isSystemFolder(folder) ? folder : dirname(folder));
  let place = trusted;
  for (const name of relative(trusted, absolute).split(sep)) {
    place = join(place, name);
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) throw planted(place === absolute ? file : place);
  }
  const root = realpathSync(trusted);
  return { path: join(root, relative(trusted, absolute)), scope: createPathScope({ root }) };
}

/** Opens a session for reading. Throws for anything but a regular file: a link, a pipe, a device. */
export async function openSessionFile(file: string): Promise<RegularFile> {
  const { createPathScope, openRegularFile } = await import("@toolcrib/kit/files");
  const scope = createPathScope();
  const folder = await scope.resolve(dirname(resolve(file)));
  return openRegularFile(join(folder, basename(file)), scope);
}

function existing(folder: string): string {
  return dirname(folder) === folder || lstatSync(folder, { throwIfNoEntry: false })
    ? folder
    : existing(dirname(folder));
}

/** Returns whether it is a folder of the system such as `/tmp`; links at that level are the system's. */
function isSystemFolder(folder: string): boolean {
  return dirname(dirname(folder)) === dirname(folder);
}

function planted(path: string): ToolError {
  const what = `${printableName(path)} is a symbolic link, and sessions are not written through links`;
  return new ToolError({
    code: "permission_denied",
    message: `Permission denied: ${what}; remove it or name the real path`,
  });
}
