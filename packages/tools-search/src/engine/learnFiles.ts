import { closeSync, fstatSync, readSync, type Stats, statfsSync } from "node:fs";
import type { FileMemory } from "../memory/fileMemory.ts";
import { signatureOf } from "../memory/signature.ts";
import { settledMs } from "./listDirectory.ts";
import { openFile } from "./readWindows.ts";
import { hasUtf16Mark } from "./searchFile.ts";

/** Learns the files that a search had to read, after the search and between others. */
export interface FileLearner {
  /** Rests while a search begins, and forgets what is left of another tree. */
  start(memory: FileMemory | undefined): void;
  /** Adds a file that was read. */
  add(path: string): void;
  /** Goes on, when the search is over, until all is learned, with a rest while another search runs. */
  learn(): void;
}

/** Larger files are not learned: they hold nearly every trigram, and reading them is most of their cost. */
const largestFile = 2 ** 20;
/** The text of larger files is not kept. */
const largestText = 2 ** 16;
/** Most files that still wait when a search begins: more are forgotten, as it adds them again, and twice they take much memory. */
const mostLeft = 2 ** 12;
/** Files that wait at most: beyond that all are forgotten, until a search reads them again. */
const mostWaiting = 200_000;
/** A message is answered at least so often. */
const sliceMs = 1;

/** Does work soon, unless the function that it returns is called before. */
type DoLater = (work: () => void) => () => void;

const atOnce: DoLater = (work) => {
  const next = setImmediate(work);
  return () => clearImmediate(next);
};

/** Learns in slices of a millisecond, which `doLater` calls. */
export function createFileLearner(doLater: DoLater = atOnce): FileLearner {
  let memory: FileMemory | undefined;
  /** Files that searches read and that were not looked at yet. */
  let waiting: string[] = [];
  /** Those that were looked at since: several searches may have read the same. */
  const seen = new Set<string>();
  let cancel = (): void => undefined;
  const trusted = new Map<number, boolean>();
  let buffer: Buffer | undefined;

  const isTrusted = (path: string, device: number): boolean => {
    if (!trusted.has(device)) trusted.set(device, notesEveryChange(path));
    return trusted.get(device) === true;
  };

  const learnOne = (files: FileMemory, path: string): void => {
    const fd = openFile(path, true);
    try {
      const stats = fstatSync(fd);
      if (!isSettled(stats) || files.knows(path, stats) || !isTrusted(path, stats.dev)) return;
      buffer ??= Buffer.allocUnsafeSlow(largestFile + 1);
      const bytes = buffer.subarray(0, readSync(fd, buffer));
      if (bytes.length !== stats.size) return;
      files.add(path, stats, {
        signature: hasUtf16Mark(bytes) ? undefined : signatureOf(bytes),
        text: bytes.length > largestText || hasUtf16Mark(bytes) ? undefined : bytes,
      });
    } finally {
      closeSync(fd);
    }
  };

  const slice = (): void => {
    const end = performance.now() + sliceMs;
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      try {
        if (memory?.hasRoom) learnOne(memory, path);
      } catch {
        // The next search that reads it says what is wrong with it.
      }
      if (performance.now() < end) continue;
      cancel = doLater(slice);
      return;
    }
    seen.clear();
    buffer = undefined;
  };

  return {
    start(files) {
      cancel();
      if (files?.tree !== memory?.tree || waiting.length > mostLeft) {
        waiting = [];
        seen.clear();
      }
      memory = files?.hasRoom ? files : undefined;
    },
    add(path) {
      if (waiting.length >= mostWaiting) waiting = [];
      if (memory !== undefined) waiting.push(path);
    },
    learn() {
      cancel();
      cancel = doLater(slice);
    },
  };
}

/** Returns whether a file has settled, so that what it holds can be remembered. An empty one is left out: those of /proc look empty too. */
function isSettled(stats: Stats): boolean {
  const changed = Math.max(stats.mtimeMs, stats.ctimeMs);
  return stats.isFile() && stats.size > 0 && stats.size <= largestFile && Date.now() - changed > settledMs;
}

/** Of the file systems of Linux those that give a changed file a new time at once, by their magic numbers; none over a network. */
const localFileSystems: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0x2fc12fc1, // ZFS
  0xca451a4e, // bcachefs
  0x01021994, // tmpfs
  0x794c7630, // overlay
]);

/** Returns whether the filesystem notes every change. Elsewhere than on Linux the number says nothing. */
export function notesEveryChange(path: string): boolean {
  return process.platform !== "linux" || localFileSystems.has(statfsSync(path).type >>> 0);
}
