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

/** The pipes of standard output and standard error. */
export type OutputPipes = readonly [PipeEnds, PipeEnds];

/** The number made at once: it takes a process, about 2 ms. */
const madeAtOnce = 4;
/** Most that are kept to be used again. */
const mostKept = 8;
const longestMs = 2000;
const program = "/usr/bin/mkfifo";
/** O_PATH of Linux: holds a named pipe without opening it. */
const openOnlyPlace = 0x20_0000;

let isAvailable = process.platform === "linux" && !isDeno;
/** Named pipes without a name any more, two for a command. */
const kept: (readonly [number, number])[] = [];

/** Takes a pair of pipes; undefined if none can be made. The descriptors are the caller's to close. */
export function takeOutputPipes(): OutputPipes | undefined {
  for (const pair of kept) {
    const pipes = openPair(pair);
    if (pipes) return pipes;
  }
  // All are in use, also by what commands left running.
  for (const pair of kept.splice(0, kept.length - mostKept + madeAtOnce)) for (const place of pair) closeSync(place);
  const first = kept.length;
  if (isAvailable) makePipes();
  return kept[first] && openPair(kept[first]);
}

function makePipes(): void {
  let folder: string | undefined;
  const names: [stdout: string, stderr: string][] = [];
  try {
    folder = mkdtempSync(join(tmpdir(), "toolcrib-"));
    for (let index = 0; index < madeAtOnce; index += 1)
      names.push([join(folder, `${index}.out`), join(folder, `${index}.err`)]);
    const options = { env: {}, stdio: "ignore", timeout: longestMs } as const;
    const { status } = childProcess().spawnSync(program, ["-m", "600", ...names.flat()], options);
    isAvailable = status === 0;
    for (const [stdout, stderr] of isAvailable ? names : []) {
      const place = openSync(stdout, openOnlyPlace);
      kept.push([place, openSync(stderr, openOnlyPlace)]);
    }
  } catch {
    // Descriptors or processes may be free again next time.
  } finally {
    for (const name of names.flat()) attempt(() => unlinkSync(name));
    const made = folder;
    if (made !== undefined) attempt(() => rmdirSync(made));
  }
}

function openPair([stdout, stderr]: readonly [number, number]): OutputPipes | undefined {
  const first = openPipe(stdout);
  const second = first && openPipe(stderr);
  if (first && second) return [first, second];
  if (first) for (const end of [first.read, first.write]) closeSync(end);
  return undefined;
}

/** Opens a pipe; undefined while any process has one of its ends open: what it holds would mix with the next output. */
function openPipe(place: number): PipeEnds | undefined {
  const path = `/proc/self/fd/${place}`;
  let read: number | undefined;
  try {
    const reader = attempt(() => openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    if (reader !== undefined) {
      closeSync(reader);
      return undefined;
    }
    read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    // With a writer there are bytes, or it is an error.
    if (readSync(read, new Uint8Array(1)) === 0) return { read, write: openSync(path, constants.O_WRONLY) };
    closeSync(read);
    return undefined;
  } catch {
    if (read !== undefined) closeSync(read);
    return undefined;
  }
}
