import { type Dirent, lstatSync, opendirSync, rmdirSync, unlinkSync } from "node:fs";
import type { ToolCallInfo } from "@toolcrib/core";
import { type OpenDirectory, systemErrorCode } from "@toolcrib/core/files";
import { createSlices } from "../yieldToEventLoop.ts";
import { createTreeCursor, type TreeCursor } from "./treeCursor.ts";

interface Entry {
  name: Buffer;
  isDirectory: boolean;
}

/** So many names of a directory are held at a time. */
const batchLength = 1000;

/**
 * Removes what `name` names in `parent`, which it takes over: depth first, one directory open at a time, links unlinked and
 * never followed. Returns how many entries went. Throws the system's error; what was removed by then stays removed.
 */
export async function removeTree(
  parent: OpenDirectory,
  name: string,
  isDirectory: boolean,
  call: ToolCallInfo,
): Promise<number> {
  const cursor = createTreeCursor(parent);
  const pause = createSlices(call.signal);
  const path: Entry[] = [];
  const pending: Entry[][] = [[{ name: Buffer.from(name), isDirectory }]];
  let removed = 0;
  try {
    for (let batch = pending.at(-1); batch !== undefined; batch = pending.at(-1)) {
      await pause();
      const entry = batch.pop();
      if (entry?.isDirectory) {
        if (enter(cursor, entry, call)) {
          path.push(entry);
          pending.push(readBatch(cursor.directory));
        } else removed += 1;
      } else if (entry) {
        drop(() => unlinkSync(cursor.directory.at(entry.name)), call);
        removed += 1;
      } else if (path.length === 0) {
        pending.pop();
      } else {
        const more = readBatch(cursor.directory);
        if (more.length > 0) {
          batch.push(...more);
          continue;
        }
        pending.pop();
        cursor.leave();
        const { name: emptied } = path.pop() as Entry;
        drop(() => rmdirSync(cursor.directory.at(emptied)), call);
        removed += 1;
      }
    }
    return removed;
  } finally {
    cursor.close();
  }
}

/** False when it was a directory no more and is dropped: a link may have taken its place. */
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

/** What somebody else removed meanwhile is as good as removed. */
function drop(take: () => void, call: ToolCallInfo): void {
  call.beginCommit?.();
  try {
    take();
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
  }
}

/** Bun gives names alone where they are asked for as bytes. */
function entryOf(directory: OpenDirectory, entry: Dirent<Buffer> | Buffer): Entry {
  if ("isDirectory" in entry) return { name: entry.name, isDirectory: entry.isDirectory() };
  const stats = lstatSync(directory.at(entry), { throwIfNoEntry: false });
  return { name: entry, isDirectory: stats?.isDirectory() ?? false };
}

function readBatch(directory: OpenDirectory): Entry[] {
  // Names as bytes: one that is not valid UTF-8 would not be found again as text.
  const listing = opendirSync(directory.at(".") as string, { encoding: "buffer" as BufferEncoding, bufferSize: 256 });
  const entries: Entry[] = [];
  try {
    while (entries.length < batchLength) {
      const entry = listing.readSync();
      if (entry === null) break;
      entries.push(entryOf(directory, entry as unknown as Dirent<Buffer> | Buffer));
    }
  } finally {
    listing.closeSync();
  }
  return entries;
}
