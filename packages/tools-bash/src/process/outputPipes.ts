import { closeSync, constants, mkdtempSync, openSync, readSync, rmdirSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { childProcess, isDeno } from "./platform.ts";

/*
 * Real pipes for the output of commands. Those that Node makes are sockets on Linux, which cannot be opened again (`/dev/stderr`), and
 * a program that reads its standard error waits for ever. Named pipes can be opened here, and are unlinked before a command runs.
 */

/** The two ends of a pipe, as open descriptors. */
export interface PipeEnds {
  readonly read: number;
  readonly write: number;
}

/** The number made at once: it takes a process, about 2 ms. */
const madeAtOnce = 8;
/** Most that are kept to be used again. */
const mostKept = 16;
const longestMs = 2000;
const program = "/usr/bin/mkfifo";
/** O_PATH of Linux: holds a named pipe without opening it. */
const openOnlyPlace = 0x20_0000;

let isAvailable = process.platform === "linux" && !isDeno;
/** Named pipes without a name any more. */
const kept: number[] = [];

/**
 * Takes so many pipes; undefined if they cannot be made. The descriptors are the caller's to close. This process waits at none of its ends, the
 * reading ones or, with `isInput`, the writing ones; a command waits at the others.
 */
export function takePipes(count: number, isInput = false): PipeEnds[] | undefined {
  const taken: PipeEnds[] = [];
  const takeFrom = (first: number): boolean => {
    for (const place of kept.slice(first)) {
      const pipe = taken.length < count ? openPipe(place, isInput) : undefined;
      if (pipe) taken.push(pipe);
    }
    return taken.length === count;
  };
  if (takeFrom(0)) return taken;
  // All others are in use, also by what commands left running.
  for (const place of kept.splice(0, kept.length - mostKept + madeAtOnce)) closeSync(place);
  const first = kept.length;
  if (isAvailable) makePipes();
  if (takeFrom(first)) return taken;
  for (const end of taken.flatMap(({ read, write }) => [read, write])) closeSync(end);
  return undefined;
}

function makePipes(): void {
  let folder: string | undefined;
  const names: string[] = [];
  try {
    const made = mkdtempSync(join(tmpdir(), "toolcrib-"));
    folder = made;
    for (let index = 0; index < madeAtOnce; index += 1) names.push(join(made, String(index)));
    const options = { env: {}, stdio: "ignore", timeout: longestMs } as const;
    isAvailable = childProcess().spawnSync(program, ["-m", "600", ...names], options).status === 0;
    for (const name of isAvailable ? names : []) kept.push(openSync(name, openOnlyPlace));
  } catch {
    // Descriptors or processes may be free again next time.
  } finally {
    for (const name of names) attempt(() => unlinkSync(name));
    const made = folder;
    if (made !== undefined) attempt(() => rmdirSync(made));
  }
}

/** Opens a pipe; undefined while any process has one of its ends open: what it holds would mix with what comes next. */
function openPipe(place: number, isInput: boolean): PipeEnds | undefined {
  const opened: number[] = [];
  const open = (flags: number): number => {
    const descriptor = openSync(`/proc/self/fd/${place}`, flags);
    opened.push(descriptor);
    return descriptor;
  };
  try {
    const reader = attempt(() => open(constants.O_WRONLY | constants.O_NONBLOCK));
    const read = reader === undefined ? open(constants.O_RDONLY | constants.O_NONBLOCK) : undefined;
    // With a writer there are bytes, or it is an error.
    if (read !== undefined && readSync(read, new Uint8Array(1)) === 0) {
      if (!isInput) return { read, write: open(constants.O_WRONLY) };
      const write = open(constants.O_WRONLY | constants.O_NONBLOCK);
      const ends = { read: open(constants.O_RDONLY), write };
      closeSync(read);
      return ends;
    }
  } catch {
    // As if it were in use.
  }
  for (const descriptor of opened) closeSync(descriptor);
  return undefined;
}
