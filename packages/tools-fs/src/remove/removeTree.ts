import { type Dirent, lstatSync, opendirSync, rmdirSync, unlinkSync } from "node:fs";
import type { ToolCallInfo } from "@toolcrib/core";
import { type OpenDirectory, systemErrorCode } from "@toolcrib/kit/files";
import { createYielder } from "../yieldToEventLoop.ts";
import { createTreeCursor, type TreeCursor } from "./treeCursor.ts";

/** An entry of a directory; its name as bytes, as it may not be valid UTF-8. */
export interface Entry {
  name: Buffer;
  isDirectory: boolean;
}

/** Most names of a directory held in memory at a time. */
const batchLength = 1000;

/**
 * Removes the entry `name` of `parent`, and closes `parent`: depth first, one directory open at a time, links unlinked and never
 * followed. `confirm` may throw right before an entry goes; its `names` lead from `parent` to it. Returns the number of removed
 * entries. On a system error it throws that; what it has removed stays removed.
 * By hand: `fs.rm` can take a link that it may not unlink for a directory, and empty the directory it leads to.
 */
export async function removeTree(
  parent: OpenDirectory,
  name: string,
  isDirectory: boolean,
  call: ToolCallInfo,
  confirm?: (directory: OpenDirectory, names: readonly string[]) => void,
): Promise<number> {
  const cursor = createTreeCursor(parent);
  const yieldToEventLoop = createYielder(call.signal);
  const path: Entry[] = [];
  const pending: Entry[][] = [[{ name: Buffer.from(name), isDirectory }]];
  let removed = 0;
  try {
    for (let batch = pending.at(-1); batch !== undefined; batch = pending.at(-1)) {
      await yieldToEventLoop();
      const entry = batch.pop();
      const emptied = path.at(-1);
      if (entry)
        confirm?.(
          cursor.directory,
          [...path, entry].map((one) => one.name.toString()),
        );
      if (entry?.isDirectory) {
        if (enter(cursor, entry, call)) {
          path.push(entry);
          pending.push(listEntries(cursor.directory, batchLength));
        } else removed += 1;
      } else if (entry) {
        drop(() => unlinkSync(cursor.directory.at(entry.name)), call);
        removed += 1;
      } else if (emptied === undefined) {
        pending.pop();
      } else {
        const more = listEntries(cursor.directory, batchLength);
        if (more.length > 0) {
          batch.push(...more);
          continue;
        }
        pending.pop();
        cursor.leave();
        path.pop();
        drop(() => rmdirSync(cursor.directory.at(emptied.name)), call);
        removed += 1;
      }
    }
    return removed;
  } finally {
    cursor.close();
  }
}

/** Returns false if the entry is no longer a directory and was unlinked: a link may have taken its place. */
function enter(cursor: TreeCursor, entry: Entry, call: ToolCallInfo): boolean {
  try {
    cursor.enter(entry.name);
    return true;
  } catch (error) {
    if (!["ENOTDIR", "ELOOP", "ENOENT"].includes(systemErrorCode(error) ?? "")) throw error;
    drop(() => unlinkSync(cursor.directory.at(entry.name)), call);
    return false;
  }
}

/** Removes an entry. One that another process has removed meanwhile counts as removed. */
function drop(take: () => void, call: ToolCallInfo): void {
  call.beginCommit?.();
  try {
    take();
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
  }
}

/** Returns an entry with its type: Bun lists names alone when they are asked for as bytes. */
function entryOf(directory: OpenDirectory, entry: Dirent<Buffer> | Buffer): Entry {
  if ("isDirectory" in entry) return { name: entry.name, isDirectory: entry.isDirectory() };
  const stats = lstatSync(directory.at(entry), { throwIfNoEntry: false });
  return { name: entry, isDirectory: stats?.isDirectory() ?? false };
}

/** Returns the first entries of a directory. Throws a system error. */
export function listEntries(directory: OpenDirectory, most: number): Entry[] {
  // As bytes: a name that is not valid UTF-8 could not be found again as text.
  const listing = opendirSync(directory.at(".") as string, { encoding: "buffer" as BufferEncoding, bufferSize: 256 });
  const entries: Entry[] = [];
  try {
    while (entries.length < most) {
      const entry = listing.readSync();
      if (entry === null) break;
      entries.push(entryOf(directory, entry as unknown as Dirent<Buffer> | Buffer));
    }
  } finally {
    listing.closeSync();
  }
  return entries;
}
