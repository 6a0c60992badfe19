import { lstatSync, type Stats } from "node:fs";
import { mayHold, type WantedTrigrams } from "./signature.ts";

/**
 * Knowledge of the files of one tree, in memory that the threads of a process share. It only grows: a record is written whole and then put
 * into the index, so that a reader sees all of it or nothing, and a writer that is ended leaves only a gap. Memory that was never written
 * takes no room in the process.
 */

/** Int32 places at the start: bytes in use, bytes that may be used, bytes of records that were replaced, records, bytes of texts, the tree. */
const header = { used: 0, most: 1, replaced: 2, records: 3, texts: 4, tree: 5, length: 16 } as const;
/** Bytes of a record before its signature: two Int32 of the path's hash, two Int32 of lengths, then Float64 of the stamp. */
const recordHead = 56;
/** A record has some 500 bytes: most of the index stays empty. */
const bytesPerSlot = 256;
/** The share of the room that texts may take: signatures save more time, and a tree that is small fits whole. */
const shareOfTexts = 1 / 8;

/** The facts learned of one file. */
export interface Learned {
  /** Undefined where the bytes do not tell what the text holds. */
  signature: Uint32Array | undefined;
  text: Uint8Array | undefined;
}

export class FileMemory {
  /** Goes to another thread, which makes its own `FileMemory` of it. */
  readonly memory: SharedArrayBuffer;
  readonly #integers: Int32Array;
  readonly #words: Uint32Array;
  readonly #numbers: Float64Array;
  readonly #bytes: Buffer;
  readonly #slots: number;
  #found = 0;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#integers = new Int32Array(memory);
    this.#words = new Uint32Array(memory);
    this.#numbers = new Float64Array(memory);
    this.#bytes = Buffer.from(memory);
    this.#slots = slotsOf(memory.byteLength);
    // Zero only in memory that nobody has used yet.
    Atomics.compareExchange(this.#integers, header.used, 0, 4 * (header.length + this.#slots));
  }

  get used(): number {
    return Atomics.load(this.#integers, header.used);
  }

  /** Returns whether there is a record: in a new tree none is looked for. */
  get isEmpty(): boolean {
    return Atomics.load(this.#integers, header.records) === 0;
  }

  get replaced(): number {
    return Atomics.load(this.#integers, header.replaced);
  }

  /** Nothing is added beyond so many bytes. */
  set most(bytes: number) {
    Atomics.store(this.#integers, header.most, bytes);
  }

  /** Tells this memory from others of the process: each message brings another object for it. */
  get tree(): number {
    return Atomics.load(this.#integers, header.tree);
  }

  set tree(number: number) {
    this.#integers[header.tree] = number;
  }

  /** Returns whether a file can still be added. */
  get hasRoom(): boolean {
    const records = Atomics.load(this.#integers, header.records);
    return this.used + 4096 < Atomics.load(this.#integers, header.most) && records < this.#slots / 2;
  }

  /** Returns the record of the file at `path`; 0 where nothing is known about it, or it is not the file that it was. */
  find(path: string): number {
    this.#slotOf(path);
    const record = this.#found;
    if (record === 0) return 0;
    let stats: Stats | undefined;
    try {
      stats = lstatSync(path, quietly);
    } catch {
      // Whoever opens it learns why.
    }
    return stats !== undefined && this.#isStampOf(record, stats) ? record : 0;
  }

  /** Returns whether the file may hold one of the texts. */
  mayHold(record: number, wanted: WantedTrigrams): boolean {
    const count = Atomics.load(this.#integers, record / 4 + 2);
    return count === 0 || mayHold(this.#words, (record + recordHead) / 4, count, wanted);
  }

  /** Returns the bytes of the file, if they were kept. */
  textOf(record: number): Buffer | undefined {
    const length = Atomics.load(this.#integers, record / 4 + 3);
    if (length === 0) return undefined;
    const start = record + recordHead + 4 * Atomics.load(this.#integers, record / 4 + 2);
    return this.#bytes.subarray(start, start + length);
  }

  /** Returns whether the record of `path` has this stamp. */
  knows(path: string, stats: Stats): boolean {
    this.#slotOf(path);
    return this.#found !== 0 && this.#isStampOf(this.#found, stats);
  }

  /** Adds a file, or replaces what was known of it. `stats` are of the opened file, from before it was read. */
  add(path: string, stats: Stats, { signature, text }: Learned): void {
    const bare = recordHead + 4 * (signature?.length ?? 0);
    const most = Atomics.load(this.#integers, header.most);
    const texts = Atomics.load(this.#integers, header.texts);
    const keepsText = text !== undefined && texts + text.length < most * shareOfTexts;
    const size = (bare + (keepsText ? text.length : 0) + 7) & ~7;
    const record = this.#reserve(size);
    if (record === 0) return;
    if (keepsText) Atomics.add(this.#integers, header.texts, text.length);
    const at = record / 4;
    hashOf(path);
    this.#integers[at] = hash.first;
    this.#integers[at + 1] = hash.second;
    this.#integers[at + 2] = signature?.length ?? 0;
    this.#integers[at + 3] = keepsText ? text.length : 0;
    this.#numbers.set([stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs], record / 8 + 2);
    if (signature !== undefined) this.#words.set(signature, (record + recordHead) / 4);
    if (keepsText) this.#bytes.set(text, record + bare);
    this.#publish(path, record, size);
  }

  /** Reserves `size` bytes for the caller and returns where they are; 0 if none are free. */
  #reserve(size: number): number {
    if (Atomics.add(this.#integers, header.records, 1) > this.#slots / 2) return 0;
    const most = Math.min(Atomics.load(this.#integers, header.most), this.#bytes.length);
    for (;;) {
      const { used } = this;
      if (used + size > most) return 0;
      if (Atomics.compareExchange(this.#integers, header.used, used, used + size) === used) return used;
    }
  }

  #publish(path: string, record: number, size: number): void {
    for (;;) {
      const slot = this.#slotOf(path);
      const before = this.#found;
      if (Atomics.compareExchange(this.#integers, slot, before, record) !== before) continue;
      if (before !== 0) Atomics.add(this.#integers, header.replaced, size);
      return;
    }
  }

  #isStampOf(record: number, stats: Stats): boolean {
    const numbers = this.#numbers;
    const at = record / 8 + 2;
    return (
      numbers[at + 4] === stats.ctimeMs &&
      numbers[at + 3] === stats.mtimeMs &&
      numbers[at + 2] === stats.size &&
      numbers[at + 1] === stats.ino &&
      numbers[at] === stats.dev
    );
  }

  /** Returns the place in the index of the record of `path`, or an empty one for it; what it holds is in `#found`. */
  #slotOf(path: string): number {
    hashOf(path);
    const { first, second } = hash;
    const mask = this.#slots - 1;
    for (let slot = first & mask; ; slot = (slot + 1) & mask) {
      const record = Atomics.load(this.#integers, header.length + slot);
      this.#found = record;
      if (record === 0 || (this.#integers[record / 4] === first && this.#integers[record / 4 + 1] === second)) {
        return header.length + slot;
      }
    }
  }
}

const quietly = { throwIfNoEntry: false } as const;

/** Returns a power of two. */
function slotsOf(bytes: number): number {
  return 2 ** Math.floor(Math.log2(bytes / bytesPerSlot));
}

const hash = { first: 0, second: 0 };

/** Puts 64 bits of a path into `hash`. A wrong record for a path would need its very inode too. */
function hashOf(path: string): void {
  let first = 0x811c9dc5;
  let second = 0x2545f491;
  for (let at = 0; at < path.length; at += 1) {
    const unit = path.charCodeAt(at);
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second + unit, 0x85ebca6b);
    second ^= second >>> 15;
  }
  first ^= first >>> 16;
  hash.first = Math.imul(first, 0x85ebca6b);
  hash.second = second;
}

/** Without a search for this long, everything is forgotten. */
export const idleMs = 300_000;

/** By root, the one searched last at the end. */
const trees = new Map<string, FileMemory>();
let idle: NodeJS.Timeout | undefined;
let created = 0;

/**
 * Returns the memory of the tree below `root` for a search, in whatever registry; undefined if `limit` (bytes) is 0, or there is no room
 * for it. All trees together hold at most `limit`: the one that was searched the longest ago is forgotten first.
 */
export function memoryOf(root: string, limit: number): SharedArrayBuffer | undefined {
  if (limit === 0) return undefined;
  // A process that changed its user may no longer read what it could.
  const key = `${process.geteuid?.()}:${process.getegid?.()}:${root}`;
  const known = trees.get(key);
  trees.delete(key);
  const others = (): number => [...trees.values()].reduce((sum, { used }) => sum + used, 0);
  for (const name of trees.keys()) if (others() > limit / 2) trees.delete(name);
  // They learn no more, so that the sum stays within the limit.
  for (const files of trees.values()) files.most = files.used;
  let files: FileMemory;
  try {
    files = known !== undefined && isWorthKeeping(known, limit) ? known : new FileMemory(new SharedArrayBuffer(limit));
  } catch {
    // The process has no address space left for it (`ulimit -v`): it searches without.
    trees.clear();
    return undefined;
  }
  if (files !== known) files.tree = created += 1;
  files.most = limit - others();
  trees.set(key, files);
  clearTimeout(idle);
  idle = setTimeout(() => trees.clear(), idleMs).unref();
  return files.memory;
}

/** Returns whether a memory is large enough, and not full of what files held before they changed. */
function isWorthKeeping(files: FileMemory, limit: number): boolean {
  return files.memory.byteLength >= limit && (files.hasRoom || files.replaced < files.used / 4);
}
