import { linkSync, lstatSync, readdirSync, type Stats, unlinkSync } from "node:fs";
import { basename, dirname } from "node:path";
import { type ToolCallInfo, ToolError } from "@toolcrib/core";
import {
  makeDirectories,
  OpenDirectory,
  openInside,
  type PathScope,
  plainSystemError,
  renameRetrying,
  systemErrorCode,
  temporaryName,
} from "@toolcrib/kit/files";
import { confirmNotDenied } from "../remove/deniedBelow.ts";
import { removeTree } from "../remove/removeTree.ts";
import { copyTree, type DirectoryEntry } from "./copyTree.ts";

/**
 * Moves a canonical entry to another path and makes the parents; never replaces an entry. A file or link is linked to the new
 * name and then unlinked, which is safe from races. A directory is renamed right after a check: only an empty directory made in
 * between would be replaced. Throws in plain words.
 */
export async function moveEntry(from: string, to: string, scope: PathScope, call: ToolCallInfo): Promise<void> {
  const printed = `${scope.print(from)} to ${scope.print(to)}`;
  try {
    const sourceDirectory = openInside(dirname(from), scope);
    try {
      const confirm = confirmNotDenied(dirname(from), scope);
      const source: DirectoryEntry = { directory: sourceDirectory, name: basename(from), confirm };
      const stats = lstatSync(pathOf(source));
      const parents = makeDirectories(dirname(to), scope, () => call.beginCommit?.());
      const confirmNew = confirmNotDenied(dirname(to), scope);
      const target: DirectoryEntry = { directory: parents.directory, name: basename(to), confirm: confirmNew };
      try {
        await moveBetween(source, target, stats, printed, call);
      } catch (error) {
        parents.undo();
        throw error;
      } finally {
        parents.directory.close();
      }
    } finally {
      sourceDirectory.close();
    }
  } catch (error) {
    throw plainSystemError(error, printed);
  }
}

/** Returns whether two names that differ only in case are the same entry, as on filesystems that ignore case. */
export function isCaseOnlyRename(from: string, to: string): boolean {
  if (dirname(from) !== dirname(to) || from.toLowerCase() !== to.toLowerCase()) return false;
  const [source, target] = [lstatSync(from), lstatSync(to, { throwIfNoEntry: false })];
  if (source.ino !== target?.ino || source.dev !== target.dev) return false;
  // Both listed: two hard links of one file.
  const names = new Set(readdirSync(dirname(from)));
  return !(names.has(basename(from)) && names.has(basename(to)));
}

export function alreadyExists(printed: string): ToolError {
  const message = `Already exists: ${printed}; nothing was moved. Choose another destination`;
  return new ToolError({ code: "execution_failed", message });
}

async function moveBetween(
  source: DirectoryEntry,
  target: DirectoryEntry,
  stats: Stats,
  printed: string,
  call: ToolCallInfo,
): Promise<void> {
  try {
    await place(source, target, stats, printed, call);
    return;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") throw alreadyExists(printed);
    if (systemErrorCode(error) !== "EXDEV") throw error;
  }
  const temporary: DirectoryEntry = { directory: target.directory, name: temporaryName() };
  try {
    await copyTree(source, temporary, call.signal);
    await place(temporary, target, lstatSync(pathOf(temporary)), printed, call);
    await target.directory.sync();
  } catch (error) {
    await removeTree(new OpenDirectory(target.directory.at(".")), temporary.name, stats.isDirectory(), {}).catch(
      () => {},
    );
    throw systemErrorCode(error) === "EEXIST" ? alreadyExists(printed) : error;
  }
  try {
    await removeTree(
      new OpenDirectory(source.directory.at(".")),
      source.name,
      stats.isDirectory(),
      call,
      source.confirm,
    );
  } catch (cause) {
    const message = `Copied ${printed}, but the source could not be removed whole (${systemErrorCode(cause) ?? cause}); remove it`;
    throw new ToolError({ code: "execution_failed", message, cause });
  }
}

/** Codes of a link that cannot be made: the filesystem has no hard links, or the file belongs to another user. */
const noLinks = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EACCES"];

/** Gives an entry its new name within one filesystem; throws EEXIST if that name is taken. */
async function place(
  source: DirectoryEntry,
  target: DirectoryEntry,
  stats: Stats,
  printed: string,
  call: ToolCallInfo,
): Promise<void> {
  const [from, to] = [pathOf(source), pathOf(target)];
  const taken = lstatSync(to, { throwIfNoEntry: false });
  // The same file: the names differ only in case, and link() would fail.
  if (taken && !(taken.ino === stats.ino && taken.dev === stats.dev)) {
    throw Object.assign(new Error("target exists"), { code: "EEXIST" });
  }
  for (const one of [source, target]) one.confirm?.(one.directory, [one.name]);
  call.beginCommit?.();
  // On other systems link() follows a symlink.
  if (!taken && !stats.isDirectory() && !(stats.isSymbolicLink() && process.platform !== "linux")) {
    try {
      linkSync(from, to);
      dropOldName(from, to);
      return;
    } catch (error) {
      if (!noLinks.includes(systemErrorCode(error) ?? "")) throw error;
    }
  }
  await renameRetrying(from, to, printed);
}

function dropOldName(from: string | Buffer, to: string | Buffer): void {
  try {
    unlinkSync(from);
  } catch (error) {
    unlinkSync(to);
    throw error;
  }
}

function pathOf({ directory, name }: DirectoryEntry): string | Buffer {
  return directory.at(name);
}
