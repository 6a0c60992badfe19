import {
  closeSync,
  constants,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
  symlinkSync,
  writeSync,
} from "node:fs";
import { ToolError } from "@toolcrib/core";
import { changeAttributes, fileKind, flush, OpenDirectory, type OpenFile } from "@toolcrib/kit/files";
import { createTreeCursor } from "../remove/treeCursor.ts";
import { createYielder } from "../yieldToEventLoop.ts";

export interface DirectoryEntry {
  directory: OpenDirectory;
  name: string;
  /** Throws for a denied path; its `names` lead from the directory to what is meant. */
  confirm?: ((directory: OpenDirectory, names: readonly string[]) => void) | undefined;
}

/**
 * Copies a file, link or directory tree to a new name, with modes, times and, where this process may, owners. Links are copied
 * as links. Everything is flushed when it resolves. On a system error it throws that and leaves what it has made.
 */
export async function copyTree(
  source: DirectoryEntry,
  target: DirectoryEntry,
  signal: AbortSignal | undefined,
): Promise<void> {
  const yieldToEventLoop = createYielder(signal);
  const from = createTreeCursor(new OpenDirectory(source.directory.at(".")));
  const to = createTreeCursor(new OpenDirectory(target.directory.at(".")));
  const levels: { readonly stats: Stats; readonly names: Buffer[] }[] = [];
  let top: Stats | undefined;

  const copyOne = async (name: string | Buffer, newName: string | Buffer): Promise<void> => {
    const path = from.directory.at(name);
    const newPath = to.directory.at(newName);
    const stats = lstatSync(path);
    if (stats.isDirectory()) {
      mkdirSync(newPath, 0o700);
      const entered = from.enter(name);
      const made = to.enter(newName);
      top ??= made;
      if (entered.ino === top.ino && entered.dev === top.dev)
        throw unmovable("the destination lies inside it; choose a path outside it");
      levels.push({ stats: entered, names: readdirSync(from.directory.at("."), { encoding: "buffer" }) });
    } else if (stats.isSymbolicLink()) {
      symlinkSync(readlinkSync(path, { encoding: "buffer" }), newPath);
      keepOwner(() => lchownSync(newPath, stats.uid, stats.gid));
    } else if (stats.isFile()) {
      await copyFile(path, newPath, yieldToEventLoop);
    } else {
      throw unmovable(`it contains a ${fileKind(stats)}; choose a destination on the same device`);
    }
  };

  try {
    await copyOne(source.name, target.name);
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      await yieldToEventLoop();
      const name = level.names.pop();
      if (name !== undefined) {
        await copyOne(name, name);
        continue;
      }
      levels.pop();
      keepAttributes({ descriptor: to.directory.descriptor, path: to.directory.at(".") }, level.stats);
      await to.directory.sync();
      from.leave();
      to.leave();
    }
  } finally {
    from.close();
    to.close();
  }
}

function unmovable(why: string): ToolError {
  return new ToolError({ code: "execution_failed", message: `Cannot be moved to another device: ${why}` });
}

const bufferLength = 1024 * 1024;

async function copyFile(
  path: string | Buffer,
  newPath: string | Buffer,
  yieldToEventLoop: () => unknown,
): Promise<void> {
  const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
  const source = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  let target: number | undefined;
  try {
    const before = fstatSync(source);
    target = openSync(newPath, O_WRONLY | O_CREAT | O_EXCL, 0o600);
    const buffer = Buffer.allocUnsafe(Math.min(bufferLength, before.size + 1));
    for (let read = readSync(source, buffer); read > 0; read = readSync(source, buffer)) {
      for (let written = 0; written < read; ) written += writeSync(target, buffer, written, read - written);
      await yieldToEventLoop();
    }
    const after = fstatSync(source);
    if (after.mtimeMs !== before.mtimeMs || after.size !== before.size)
      throw unmovable("it was changed while it was copied; try again");
    const copy = { descriptor: target, path: newPath };
    keepAttributes(copy, before);
    await flush(copy);
  } finally {
    closeSync(source);
    if (target !== undefined) closeSync(target);
  }
}

function keepAttributes(file: OpenFile, { uid, gid, mode, atime, mtime }: Stats): void {
  const kept = keepOwner(() => changeAttributes(file, { owner: [uid, gid] }));
  // Without its owner a copy must not keep set-user-id and set-group-id.
  changeAttributes(file, { mode: mode & (kept ? 0o7777 : 0o1777), times: [atime, mtime] });
}

function keepOwner(change: () => void): boolean {
  try {
    change();
    return true;
  } catch {
    return false;
  }
}
