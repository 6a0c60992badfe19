import { closeSync, constants, fstatSync, openSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt } from "@toolcrib/core/internal";
import { systemErrorCode } from "./systemErrors.ts";

/*
 * A lock between processes, written by hand: proper-lockfile takes over a lock that looks old, so a process that is merely
 * slow loses its lock. Here the lock names its holder and is taken over only when that process has ended.
 */

/** The longest time that `withFileLock` waits. */
const longestWaitMs = 30_000;
const pauseMs = 20;
/** A lock is written in one go: one that is still empty after this long was left by a crash. */
const emptyForMs = 10_000;

const held = new Set<FileLock>();

/** Runs `task` while no other process holds the lock file `path`. Throws when it is not free in time. */
export async function withFileLock<T>(path: string, task: () => Promise<T>): Promise<T> {
  const lock = await FileLock.take(path, longestWaitMs);
  if (!lock)
    throw new Error(`${path} is held by another process; wait for it to end, or remove this file if there is none`);
  try {
    return await task();
  } finally {
    lock.release();
  }
}

/** A lock file that this process holds. */
export class FileLock {
  readonly #path: string;
  readonly #own: string;

  private constructor(path: string, own: string) {
    this.#path = path;
    this.#own = own;
    if (!releasesAtExit) process.once("exit", releaseAll);
    releasesAtExit = true;
    held.add(this);
  }

  /** Takes the lock file `path`; undefined when it is still held after `waitMs`. A lock whose process has ended is taken over. */
  static async take(path: string, waitMs = 0): Promise<FileLock | undefined> {
    const deadline = performance.now() + waitMs;
    for (;;) {
      const own = create(path);
      if (own !== undefined) return new FileLock(path, own);
      const holder = read(path);
      if (holder !== undefined && hasEnded(path, holder) && (await takeOver(path, holder, deadline))) continue;
      if (performance.now() >= deadline) return undefined;
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  }

  release(): void {
    if (held.delete(this) && read(this.#path) === this.#own) remove(this.#path);
  }
}

/** Makes the lock file, and returns what this process has written in it; undefined if there is one. */
function create(path: string): string | undefined {
  const own = `${hostname()} ${process.pid} ${statusOf(process.pid)?.start ?? ""}`;
  let descriptor: number;
  try {
    descriptor = openSync(path, "wx", 0o600);
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return undefined;
    throw error;
  }
  try {
    writeFileSync(descriptor, own);
  } catch (error) {
    // On a full disk an empty file is left: it would be a lock that nobody holds.
    remove(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
  // Another took it for one that a crash left: this process was stopped before it wrote.
  return read(path) === own ? own : undefined;
}

let releasesAtExit = false;

function releaseAll(): void {
  for (const lock of held) lock.release();
}

/**
 * Removes a dead holder's lock, under a lock of its own: otherwise two could each remove the other's new one. False when
 * that one was not free in time.
 */
async function takeOver(path: string, holder: string, deadline: number): Promise<boolean> {
  // Loaded here: importing node:crypto takes 8 ms, which importing this package should not cost.
  const { createHash } = process.getBuiltinModule("node:crypto");
  const name = createHash("sha256").update(holder).digest("hex").slice(0, 8);
  const lock = await FileLock.take(`${path}.${name}`, Math.max(0, deadline - performance.now()));
  if (!lock) return false;
  try {
    if (read(path) === holder) remove(path);
    return true;
  } finally {
    lock.release();
  }
}

/** Reads the holder from the lock; undefined if there is none. Never waits for a named pipe in its place. */
function read(path: string): string | undefined {
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
  let descriptor: number;
  try {
    descriptor = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    if (!fstatSync(descriptor).isFile()) throw new Error(`${path} is not a file; remove it`);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
  }
}

/** Returns whether a process has ended. One of another machine counts as alive: nothing can be known of it. */
function hasEnded(path: string, holder: string): boolean {
  const [host, pid, start = ""] = holder.split(" ");
  if (holder === "") {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats !== undefined && Date.now() - stats.mtimeMs > emptyForMs;
  }
  if (host !== hostname()) return false;
  const now = statusOf(Number(pid));
  if (now?.isZombie) return true;
  // Either may be unknown: /proc can be missing, or hide the processes of others.
  if (now && start !== "") return now.start !== start;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return systemErrorCode(error) === "ESRCH";
  }
}

/**
 * Reads when a process started, in the system's ticks, as a process number is used again; and whether it is a zombie. Known on Linux.
 */
function statusOf(pid: number): { readonly start: string; readonly isZombie: boolean } | undefined {
  return attempt(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { start: fields[19] ?? "", isZombie: fields[0] === "Z" || fields[0] === "X" };
  });
}
