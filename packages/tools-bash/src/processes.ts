import { readdirSync, readFileSync } from "node:fs";

/*
 * What /proc tells about running processes; Linux only. Elsewhere, and where /proc is not mounted, every list is empty.
 * All of it is synchronous, so that it also works while the process exits; about 15 µs a process.
 */

/** A process that a command left behind: its id, and its command line cut short. */
export interface RunningProcess {
  pid: number;
  command: string;
}

interface Entry {
  pid: number;
  parent: number;
  group: number;
}

/** Most ids of a range that are tried one by one rather than by listing all of /proc. */
const shortRange = 64;

/** A command shorter than this cannot have used up all process ids, so those it started are above its own. */
const sureOfOrderMs = 1000;

/**
 * Live processes whose environment holds `mark`, given the command's shell and how long it ran: after a short command only the
 * ids handed out since its start are looked at, mostly none.
 */
export function findMarkedSince(shell: number, elapsedMs: number, mark: string): number[] {
  const newest = newestPid();
  if (elapsedMs > sureOfOrderMs || newest === undefined || newest < shell) return findMarked([mark]);
  const candidates =
    newest - shell > shortRange
      ? listPids().filter((pid) => pid > shell)
      : Array.from({ length: newest - shell }, (_, index) => shell + 1 + index);
  return candidates.filter((pid) => isMarked(pid, [mark]) && readEntry(pid) !== undefined);
}

/** Live processes whose environment holds one of `marks`. */
export function findMarked(marks: readonly string[]): number[] {
  return listPids().filter((pid) => isMarked(pid, marks) && readEntry(pid) !== undefined);
}

/** Live processes that hold the mark, are in the group of `root`, are `root` itself, or descend from any of these. */
export function findTree(root: number, mark: string): number[] {
  const entries = listPids().flatMap((pid) => readEntry(pid) ?? []);
  const found = new Set<number>();
  const isOurs = ({ pid, group, parent }: Entry): boolean =>
    pid === root || group === root || found.has(parent) || isMarked(pid, [mark]);
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const entry of entries) if (!found.has(entry.pid) && isOurs(entry)) found.add(entry.pid);
  }
  return [...found];
}

/** The command line of a process with blanks for NUL, `limit` characters at most. */
export function describeProcess(pid: number, limit = 60): RunningProcess {
  const words = (read(pid, "cmdline")?.toString("utf8") ?? "").replaceAll(/[\u0000-\u0020\u007f]+/g, " ").trim();
  return { pid, command: words.length > limit ? `${words.slice(0, limit)}…` : words };
}

function listPids(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function newestPid(): number | undefined {
  try {
    return Number(readFileSync("/proc/loadavg", "latin1").split(" ")[4]);
  } catch {
    return undefined;
  }
}

function isMarked(pid: number, marks: readonly string[]): boolean {
  const environment = read(pid, "environ");
  return environment !== undefined && marks.some((mark) => environment.includes(mark));
}

/** undefined for a process that is gone or only waits to be collected. */
function readEntry(pid: number): Entry | undefined {
  const text = read(pid, "stat")?.toString("latin1");
  if (text === undefined) return undefined;
  // The name in parentheses may hold anything, parentheses too.
  const [state, parent, group] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "X" ? undefined : { pid, parent: Number(parent), group: Number(group) };
}

function read(pid: number, file: string): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return undefined;
  }
}
