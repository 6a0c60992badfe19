import { lstatSync, read, readdirSync, readlinkSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "@toolcrib/core/text";
import { openRegularFile, type PathScope, plainSystemError, systemErrorCode } from "@toolcrib/kit/files";
import { createYielder } from "../yieldToEventLoop.ts";

/** The entry at a path, as far as it can be put back. */
export type State =
  | { readonly kind: "absent" }
  | {
      readonly kind: "file";
      /** SHA-256; absent for a file too large to read, which is known by its `stamp`. */
      readonly digest?: string | undefined;
      readonly stamp: string;
      readonly bytes: number;
      readonly mode: number;
      /** The name of its kept copy. */
      readonly copy?: string | undefined;
      /** The reason why there is no copy. */
      readonly notKept?: string | undefined;
    }
  | { readonly kind: "link"; readonly target: string; readonly stamp: string }
  | { readonly kind: "directory"; readonly mode: number; readonly stamp: string }
  /** Something that cannot be put back, or could not be looked at. */
  | { readonly kind: "other"; readonly why: string };

/** States by absolute path, a directory before what it holds. What is not listed is absent. */
export type States = readonly (readonly [path: string, state: State])[];

export const absent: State = { kind: "absent" };

/** Keeps copies of what is read. */
export interface Keeper {
  /** Begins a copy, or says why there is none. `done` gives its name, and may be called again. */
  keep(bytes: number): { readonly write: (chunk: Uint8Array) => void; readonly done: () => string } | string;
}

export interface StateOptions {
  readonly scope: PathScope;
  /** Also everything below a directory. */
  readonly tree: boolean;
  /** Larger files are not read. */
  readonly maxFileBytes: number;
  readonly keeper?: Keeper | undefined;
}

/** Most entries of one directory tree that are looked at. */
export const mostEntries = 10_000;

/** Looks at what is at a canonical path: the directories above it that are missing, itself, and with `tree` what is below it. Never throws. */
export async function readStates(path: string, options: StateOptions): Promise<States> {
  const found: [string, State][] = [];
  const yieldToEventLoop = createYielder(undefined);
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    await yieldToEventLoop();
    if (found.length >= mostEntries)
      return [[path, { kind: "other", why: `it holds more than ${mostEntries} files and directories` }]];
    const state = await stateOf(next, options);
    found.push([next, state]);
    if (state.kind !== "directory" || !options.tree) continue;
    const names = attemptList(next);
    if (typeof names === "string") return [[path, { kind: "other", why: names }]];
    for (const name of names) waiting.push(join(next, name));
  }
  return found.length === 1 && found[0]?.[1].kind === "absent" ? [...missingAbove(path), ...found] : found;
}

/** Returns the state of one path, not of what is below it. Never rejects. */
export async function stateOf(path: string, { scope, maxFileBytes, keeper }: StateOptions): Promise<State> {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return absent;
    const stamp = stampOf(stats);
    const mode = stats.mode & 0o7777;
    if (stats.isDirectory()) return { kind: "directory", mode, stamp };
    if (stats.isSymbolicLink()) return { kind: "link", target: readlinkSync(path), stamp };
    if (!stats.isFile()) return { kind: "other", why: "it is neither a file, a link nor a directory" };
    const file = { kind: "file", stamp, bytes: stats.size, mode } as const;
    if (stats.size > maxFileBytes) return { ...file, notKept: `it is larger than ${maxFileBytes} bytes` };
    return { ...file, ...(await readWhole(path, scope, maxFileBytes, keeper)) };
  } catch (error) {
    if (systemErrorCode(error) === "ENOTDIR") return absent;
    return { kind: "other", why: messageOf(plainSystemError(error, scope.print(path))) };
  }
}

/** Returns whether both are the same thing with the same content. */
export function isSame(one: State, other: State): boolean {
  if (one.kind === "file" && other.kind === "file") {
    const isRead = one.digest !== undefined && other.digest !== undefined;
    return one.mode === other.mode && (isRead ? one.digest === other.digest : one.stamp === other.stamp);
  }
  if (one.kind === "link" && other.kind === "link") return one.target === other.target;
  if (one.kind === "directory" && other.kind === "directory") return one.mode === other.mode;
  return one.kind === "absent" && other.kind === "absent";
}

/** Returns whether it is the very same file, link or directory, under another name perhaps. */
export function isMoved(one: State, other: State): boolean {
  if (!("stamp" in one && "stamp" in other) || one.kind !== other.kind) return false;
  // Moving what a directory holds changes its times.
  return one.kind === "directory" ? idOf(one.stamp) === idOf(other.stamp) : one.stamp === other.stamp;
}

/** Returns whether the entry is still the one that the state was taken of, after changes too. */
export function hasSameId(one: State, other: State): boolean {
  return "stamp" in one && "stamp" in other && one.kind === other.kind && idOf(one.stamp) === idOf(other.stamp);
}

export function stampOf({ dev, ino, size, mtimeMs }: Stats): string {
  return `${dev}:${ino}/${size}/${mtimeMs}`;
}

function idOf(stamp: string): string {
  return stamp.slice(0, stamp.indexOf("/"));
}

/** Makes a hash. Importing node:crypto takes 8 ms, so it is loaded here. */
export function newHash(): ReturnType<typeof import("node:crypto").createHash> {
  return process.getBuiltinModule("node:crypto").createHash("sha256");
}

const readAsync = promisify(read);

const chunkBytes = 1024 * 1024;

async function readWhole(
  path: string,
  scope: PathScope,
  maxFileBytes: number,
  keeper: Keeper | undefined,
): Promise<{ digest?: string; copy?: string; notKept?: string }> {
  // Refuses what a link swapped in leads to, and never waits for a named pipe.
  const file = openRegularFile(path, scope);
  let copy: ReturnType<Keeper["keep"]> | undefined;
  try {
    copy = keeper?.keep(file.stats.size);
    const hash = newHash();
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, file.stats.size + 1));
    for (let total = 0; ; ) {
      const { bytesRead } = await readAsync(file.descriptor, buffer, 0, buffer.length, null);
      if (bytesRead === 0) {
        const digest = hash.digest("hex");
        if (copy === undefined) return { digest };
        return typeof copy === "string" ? { digest, notKept: copy } : { digest, copy: copy.done() };
      }
      total += bytesRead;
      if (total > maxFileBytes) return { notKept: "it grew while it was read" };
      const chunk = buffer.subarray(0, bytesRead);
      hash.update(chunk);
      if (typeof copy === "object") copy.write(chunk);
    }
  } finally {
    if (typeof copy === "object") copy.done();
    file.close();
  }
}

/** Returns the names in a directory, the last first; or why they cannot be had. */
function attemptList(path: string): string[] | string {
  try {
    const names = readdirSync(path);
    // Such a name is not text, so the file would not be found again.
    const lossy = names.some((name) => name.includes("\ufffd"));
    return lossy ? "it holds a name that is not valid UTF-8" : names.sort().reverse();
  } catch (error) {
    return messageOf(plainSystemError(error, path));
  }
}

function missingAbove(path: string): [string, State][] {
  const missing: [string, State][] = [];
  for (let place = dirname(path); dirname(place) !== place; place = dirname(place)) {
    if (lstatSync(place, { throwIfNoEntry: false })) break;
    missing.unshift([place, absent]);
  }
  return missing;
}
