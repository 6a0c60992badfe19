import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { attempt } from "@toolcrib/core/internal";
import { clip } from "@toolcrib/core/text";

/*
 * Reads running processes from /proc. Linux only: without /proc nothing is found. Synchronous, so that it works while this process
 * exits; about 15 µs for each process of the machine. By hand: packages for this run `ps`, which does not show the environment.
 */

/** A process that outlives its command: its id and the start of its command line. */
export interface RunningProcess {
  pid: number;
  command: string;
}

/** The parent of all kernel threads: half of what /proc lists. */
const kernelThreads = 2;

/** Longest range of ids that is tried one by one instead of listing /proc. */
const shortRange = 64;

/** Most rounds of looking for new processes, for a machine that keeps starting them. */
const mostRounds = 100;

/** In a shorter time process ids cannot wrap around, so the processes of a command have higher ids than its shell. */
const sureOfOrderMs = 1000;

/**
 * Finds live processes whose environment contains `mark`, given the id of the command's shell and how long it ran. After a short command
 * only ids given out since its start are looked at: mostly none.
 */
export function findMarkedSince(shell: number, elapsedMs: number, mark: string): number[] {
  const newest = newestPid();
  if (elapsedMs > sureOfOrderMs || newest === undefined || newest < shell) return findMarked([mark]);
  const candidates = newest - shell > shortRange ? livePids() : range(shell + 1, newest);
  return [...candidates].filter((pid) => isMarked(pid, [mark]) && isRunning(pid));
}

/** Finds live processes whose environment contains one of `marks`. */
export function findMarked(marks: readonly string[]): number[] {
  return [...livePids()].filter((pid) => isMarked(pid, marks) && isRunning(pid));
}

/**
 * Finds live processes with the mark, in the group of `root`, or descended from any of these. `onMember` is called at once for each one
 * found by its mark or group.
 */
export function findTree(root: number, mark: string, onMember: (pid: number) => void): number[] {
  const found = new Set<number>();
  const others = new Map<number, number>();
  for (const pid of livePids()) {
    const relations = readRelations(pid);
    if (!relations || relations.parent === kernelThreads) continue;
    if (relations.group === root || isMarked(pid, [mark])) {
      found.add(pid);
      onMember(pid);
    } else {
      others.set(pid, relations.parent);
    }
  }
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const [pid, parent] of others) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

/** Returns whether a process exists and is not a zombie. */
export function isRunning(pid: number): boolean {
  return readRelations(pid) !== undefined;
}

const longestLine = 60;

/** Returns a process with its command line, cut to `longestLine` characters; each run of control characters becomes a space. */
export function describeProcess(pid: number): RunningProcess {
  const words = (read(pid, "cmdline")?.toString("utf8") ?? "").replaceAll(/[\u0000-\u0020\u007f]+/g, " ").trim();
  return { pid, command: clip(words, longestLine) };
}

/** Includes processes that start during the walk: otherwise a chain of processes, each starting the next, would be missed. */
function* livePids(): Generator<number> {
  let newest = newestPid();
  yield* attempt(() => readdirSync("/proc").map(Number).filter(Number.isInteger)) ?? [];
  for (let round = 0; round < mostRounds; round += 1) {
    const now = newestPid();
    if (newest === undefined || now === undefined || now <= newest) return;
    yield* range(newest + 1, now);
    newest = now;
  }
}

function* range(first: number, last: number): Generator<number> {
  for (let pid = first; pid <= last; pid += 1) yield pid;
}

/** Returns the id given out last. */
function newestPid(): number | undefined {
  return attempt(() => Number(readFileSync("/proc/loadavg", "utf8").split(" ")[4]));
}

function isMarked(pid: number, marks: readonly string[]): boolean {
  const environment = readEnvironment(pid);
  return environment !== undefined && marks.some((mark) => environment.includes(mark));
}

/** Reads again while it is empty: a process that is just starting a program has none for a moment. */
function readEnvironment(pid: number): Buffer | undefined {
  for (let round = 0; round < mostRounds; round += 1) {
    const environment = read(pid, "environ");
    if (environment === undefined || environment.length > 0) return environment;
    if ((readRelations(pid)?.parent ?? kernelThreads) === kernelThreads) return undefined;
  }
  return undefined;
}

/** Reads the relations; undefined for a process that is gone or a zombie. */
function readRelations(pid: number): { parent: number; group: number } | undefined {
  const text = read(pid, "stat")?.toString("latin1");
  if (text === undefined) return undefined;
  // The name in parentheses may contain anything, parentheses included.
  const [state, parent, group] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "X" ? undefined : { parent: Number(parent), group: Number(group) };
}

let scratch: Buffer | undefined;

/** Reads a file of /proc. The bytes are valid until the next call. */
function read(pid: number, file: string): Buffer | undefined {
  const path = `/proc/${pid}/${file}`;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "r");
    scratch ??= Buffer.allocUnsafeSlow(64 * 1024);
    const length = readSync(descriptor, scratch, 0, scratch.length, null);
    return length < scratch.length ? scratch.subarray(0, length) : readFileSync(path);
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
