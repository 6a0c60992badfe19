import { closeSync, constants, mkdtempSync, openSync, rmdirSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childProcess } from "./platform.ts";

/*
 * Real pipes for the output of commands. Those that Node makes are sockets on Linux, which cannot be opened again (`/dev/stderr`), and
 * a program that reads its standard error waits for ever. Named pipes can be opened here, and are unlinked before a command runs.
 */

/** The two ends of a pipe, as open descriptors. */
interface PipeEnds {
  readonly read: number;
  readonly write: number;
}

/** The pipes of standard output and standard error. */
export type OutputPipes = readonly [PipeEnds, PipeEnds];

/** How many are made at once: it takes a process, about 2 ms. */
const madeAtOnce = 4;
const longestMs = 2000;
const program = "/usr/bin/mkfifo";

let isAvailable = process.platform === "linux";
const ready: OutputPipes[] = [];

/** Undefined where none can be made. The descriptors are the caller's to close. */
export function takeOutputPipes(): OutputPipes | undefined {
  if (ready.length === 0 && isAvailable) makePipes();
  return ready.pop();
}

function makePipes(): void {
  let folder: string | undefined;
  const names: string[] = [];
  try {
    folder = mkdtempSync(join(tmpdir(), "toolcrib-"));
    for (let index = 0; index < 2 * madeAtOnce; index += 1) names.push(join(folder, String(index)));
    const options = { env: {}, stdio: "ignore", timeout: longestMs } as const;
    const { status } = childProcess().spawnSync(program, ["-m", "600", ...names], options);
    isAvailable = status === 0;
    for (let index = 0; isAvailable && index < names.length; index += 2) {
      ready.push([openPipe(names[index] as string), openPipe(names[index + 1] as string)]);
    }
  } catch {
    // Descriptors or processes may be free again next time.
  } finally {
    for (const name of names) attempt(() => unlinkSync(name));
    if (folder !== undefined) attempt(() => rmdirSync(folder as string));
  }
}

function openPipe(path: string): PipeEnds {
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { read, write: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(read);
    throw error;
  }
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // It was never made.
  }
}
