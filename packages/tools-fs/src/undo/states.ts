import { lstatSync, readdirSync, readFile, readlinkSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "@toolcrib/core/text";
import { openRegularFile, type PathScope, plainSystemError, systemErrorCode } from "@toolcrib/kit/files";
import { createYielder } from "../yieldToEventLoop.ts";

/** The entry at a path, as far as it can be put back. `stamp` tells it from another entry. */
export type State =
  | { readonly kind: "absent" }
  | ({
      readonly kind: "file";
      /** SHA-256; absent for a file too large to read, which is known by its `stamp`. */
      readonly digest?: string | undefined;
      readonly stamp: string;
      readonly mode: number;
    } & Kept)
  | { readonly kind: "link"; readonly target: string; readonly stamp: string }
  | { readonly kind: "directory"; readonly mode: number; readonly stamp: string }
  /** Something that cannot be put back, or could not be looked at. */
  | { readonly kind: "other"; readonly why: string };

/** The name of a kept copy, or the reason why there is none. */
export interface Kept {
  readonly copy?: string;
  readonly notKept?: string;
}

/** States by absolute path, a directory before what it holds. What is not listed is absent. */
export type States = readonly (readonly [path: string, state: State])[];

export const absent: State = { kind: "absent" };

export interface StateOptions {
  readonly scope: PathScope;
  /** Larger files are not read. */
  readonly maxFileBytes: number;
  /** Keeps a copy of a file that is read. */
  readonly keep?: ((bytes: Uint8Array) => Kept) | undefined;
}

/** Most entries of one directory tree that are looked at. */
const mostEntries = 10_000;

/** Looks at what is at a canonical path: the directories above it that are missing, itself, and with `tree` what is below it. Never throws. */
export async function readStates(path: string, tree: boolean, options: StateOptions): Promise<States> {
  const found: [string, State][] = [];
  const yieldToEventLoop = createYielder(undefined);
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    await yieldToEventLoop();
    if (found.length >= mostEntries)
      return [[path, { kind: "other", why: `it holds more than ${mostEntries} files and directories` }]];
    const state = await stateOf(next, options);
    found.push([next, state]);
    if (state.kind !== "directory" || !tree) continue;
    const names = namesOf(next);
    if (typeof names === "string") return [[path, { kind: "other", why: names }]];
    for (const name of names) waiting.push(join(next, name));
  }
  return found[0]?.[1].kind === "absent" ? [...missingAbove(path), ...found] : found;
}

/** Returns the state of one path, not of what is below it. Never rejects. */
export async function stateOf(path: string, options: StateOptions): Promise<State> {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return absent;
    const [stamp, mode] = [stampOf(stats), stats.mode & 0o7777];
    if (stats.isDirectory()) return { kind: "directory", mode, stamp };
    if (stats.isSymbolicLink()) return { kind: "link", target: readlinkSync(path), stamp };
    if (!stats.isFile()) return { kind: "other", why: "it is neither a file, a link nor a directory" };
    return { kind: "file", stamp, mode, ...(await readWhole(path, stats.size, options)) };
  } catch (error) {
    if (systemErrorCode(error) === "ENOTDIR") return absent;
    return { kind: "other", why: messageOf(plainSystemError(error, options.scope.print(path))) };
  }
}

/** Returns whether both are the same thing with the same content. */
export function isSame(one: State, other: State): boolean {
  return one.kind !== "other" && contentOf(one) === contentOf(other);
}

function contentOf(state: State): string {
  if (state.kind === "file") return `${state.mode} ${state.digest ?? state.stamp}`;
  if (state.kind === "link") return `to ${state.target}`;
  return `${state.kind} ${state.kind === "directory" ? state.mode : ""}`;
}

/** Returns whether it is the very same file, link or directory, under another name perhaps; with `idOnly` after changes too. */
export function isMoved(one: State, other: State, idOnly = false): boolean {
  if (!("stamp" in one && "stamp" in other) || one.kind !== other.kind) return false;
  const part = (stamp: string): string => (idOnly ? stamp.slice(0, stamp.indexOf("/")) : stamp);
  return part(one.stamp) === part(other.stamp);
}

/** Returns what tells an entry from others; moving what a directory holds changes its times, which are left out. */
export function stampOf(stats: Stats): string {
  const { dev, ino, size, mtimeMs } = stats;
  return `${dev}:${ino}/${stats.isDirectory() ? "" : `${size}/${mtimeMs}`}`;
}

const chunkBytes = 1024 * 1024;

/** Makes a hash. Importing node:crypto takes 8 ms, so it is loaded here. */
export function newHash(): ReturnType<typeof import("node:crypto").createHash> {
  return process.getBuiltinModule("node:crypto").createHash("sha256");
}

/** Resolves to the SHA-256 of some bytes. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  const hash = newHash();
  const yieldToEventLoop = createYielder(undefined);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    hash.update(bytes.subarray(at, at + chunkBytes));
    await yieldToEventLoop();
  }
  return hash.digest("hex");
}

const readAsync = promisify(readFile);

async function readWhole(
  path: string,
  size: number,
  { scope, maxFileBytes, keep }: StateOptions,
): Promise<Kept & { digest?: string }> {
  if (size > maxFileBytes) return { notKept: `it is larger than ${maxFileBytes} bytes` };
  // Refuses what a link swapped in leads to, and never waits for a named pipe.
  const file = openRegularFile(path, scope);
  try {
    const bytes = await readAsync(file.descriptor);
    if (bytes.length > maxFileBytes) return { notKept: "it grew while it was read" };
    return { digest: await digestOf(bytes), ...keep?.(bytes) };
  } finally {
    file.close();
  }
}

/** Returns the names in a directory, the last first; or why they cannot be had. */
function namesOf(path: string): string[] | string {
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
