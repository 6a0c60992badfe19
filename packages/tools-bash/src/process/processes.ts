import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";

/*
 * What /proc tells about running processes; Linux only. Elsewhere, and where /proc is not mounted, nothing is found. All of
 * it is synchronous, so that it also works while this process exits; about 15 µs for each process of the machine.
 */

/** A process that a command left behind: its id, and its command line cut short. */
export interface RunningProcess {
  pid: number;
  command: string;
}

/** The parent of all kernel threads: half of what /proc lists. */
const kernelThreads = 2;

/** Most ids of a range that are tried one by one rather than by listing all of /proc. */
const shortRange = 64;

/** How often processes that have just started are looked for, on a machine that starts them without end. */
const mostRounds = 100;

/** A command shorter than this cannot have used up all process ids, so those it started are above its own. */
const sureOfOrderMs = 1000;

/**
 * Live processes whose environment holds `mark`, given the command's shell and how long it ran: after a short command only the
 * ids handed out since its start are looked at, mostly none.
 */
export function findMarkedSince(shell: number, elapsedMs: number, mark: string): number[] {
  const newest = newestPid();
  if (elapsedMs > sureOfOrderMs || newest === undefined || newest < shell) return findMarked([mark]);
  const candidates = newest - shell > shortRange ? livePids() : range(shell + 1, newest);
  return [...candidates].filter((pid) => isMarked(pid, [mark]) && isRunning(pid));
}

/** Live processes whose environment holds one of `marks`. */
export function findMarked(marks: readonly string[]): number[] {
  return [...livePids()].filter((pid) => isMarked(pid, marks) && isRunning(pid));
}

/**
 * Live processes that hold the mark, are in the group of `root`, or descend from any of these. `onMember` hears at once of
 * those that are found without regard to descent.
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

/** Whether it is there and does not only wait to be collected. */
export function isRunning(pid: number): boolean {
  return readRelations(pid) !== undefined;
}

/** The command line of a process with blanks for NUL, `limit` characters at most. */
export function describeProcess(pid: number, limit = 60): RunningProcess {
  const words = (read(pid, "cmdline")?.toString("utf8") ?? "").replaceAll(/[\u0000-\u0020\u007f]+/g, " ").trim();
  return { pid, command: words.length > limit ? `${words.slice(0, limit)}…` : words };
}

/** Also those that start while the caller looks at the others: a chain of processes, each starting the next, would slip through. */
function* livePids(): Generator<number> {
  let newest = newestPid();
  yield* listPids();
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

function listPids(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** The id handed out last. */
function newestPid(): number | undefined {
  try {
    return Number(readFileSync("/proc/loadavg", "utf8").split(" ")[4]);
  } catch {
    return undefined;
  }
}

function isMarked(pid: number, marks: readonly string[]): boolean {
  const environment = read(pid, "environ");
  return environment !== undefined && marks.some((mark) => environment.includes(mark));
}

/** undefined for a process that is gone or only waits to be collected. */
function readRelations(pid: number): { parent: number; group: number } | undefined {
  const text = read(pid, "stat")?.toString("latin1");
  if (text === undefined) return undefined;
  // The name in parentheses may hold anything, parentheses too.
  const [state, parent, group] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "X" ? undefined : { parent: Number(parent), group: Number(group) };
}

let scratch: Buffer | undefined;

/** The bytes are good until the next call. */
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
