import { existsSync } from "node:fs";
import type { Socket, SocketConstructorOpts } from "node:net";
import { constants } from "node:os";
import { isAbsolute, join } from "node:path";
import { ToolError } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { findProgram, isTrustedProgram } from "@toolcrib/kit/files";
import { describeProcess, findMarked, findMarkedSince, findTree, isRunning, type RunningProcess } from "./processes.ts";

/*
 * Differences between systems. Linux is tested. On macOS and the BSDs only the process group is killed. On Windows
 * (sh of Git for Windows, taskkill) little of it was tried: testing/windows/README.md.
 */

const isWindows = process.platform === "win32";
const isLinux = process.platform === "linux";

/** True under Bun, which reads and writes no pipe by its descriptor as Node does. */
export const isBun: boolean = "bun" in process.versions;
/** True under Deno: the pipes that it makes can be opened again, as those of Node and Bun cannot. */
export const isDeno: boolean = "deno" in process.versions;

/** Loads `node:child_process` with the first command: it takes 8 ms, which importing this package should not cost. */
export function childProcess(): typeof import("node:child_process") {
  return process.getBuiltinModule("node:child_process");
}

/** Makes a socket of a descriptor. Loads `node:net` with the first command, as that loads it anyway. */
export function openSocket(options: SocketConstructorOpts): Socket {
  const { Socket } = process.getBuiltinModule("node:net");
  return new Socket(options);
}

/** Most rounds of `killLeft`: a process may start another while they are listed. */
const mostRounds = 50;

/** True if commands get their own process group. Windows has no groups and would open a console window. */
export const ownGroup: boolean = !isWindows;

/**
 * Looks up `sh` or `bash` once; a path is taken as it is. Returns a function that gives the path, or throws a ToolError if there
 * is none. `notIn` as in `findProgram`.
 */
export function findShell(wanted: string, notIn: readonly string[]): () => string {
  const found = lookUpShell(wanted, notIn);
  return () => {
    if (found !== undefined) return found;
    const advice = isWindows
      ? `install Git for Windows and add the folder of its ${wanted}.exe to PATH`
      : "install it, or choose another shell";
    throw new ToolError({
      code: "execution_failed",
      toolName: "run_bash",
      message: `No ${wanted} on PATH outside the directories that tools may write; ${advice}`,
      recoverable: false,
    });
  };
}

function lookUpShell(wanted: string, notIn: readonly string[]): string | undefined {
  if (isAbsolute(wanted)) return wanted;
  if (isWindows) return findGitShell(`${wanted}.exe`, notIn);
  return wanted === "sh" ? "/bin/sh" : findProgram(wanted, notIn);
}

/**
 * Finds the shell of Git for Windows, in its usual place or on PATH. The `bash` in the system's own folder is another one: it
 * runs in Linux.
 */
function findGitShell(name: string, notIn: readonly string[]): string | undefined {
  const usual = join(process.env.ProgramFiles ?? "C:\\Program Files", "Git", "bin", name);
  if (existsSync(usual) && isTrustedProgram(usual, notIn)) return usual;
  return findProgram(name, [...notIn, systemFolder()]);
}

function systemFolder(): string {
  return join(process.env.SystemRoot ?? "C:\\Windows", "System32");
}

/** Returns the exit code; for a signal, as in a shell, 128 plus its number. */
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal ? constants.signals[signal] : 0);
}

/**
 * Kills a command's process tree once: its process group and, on Linux, every process with its mark and their descendants. Returns
 * the ids that it found, for `isAlive`. Call it until it finds none, because a process may start another meanwhile.
 */
export function killTree(shell: number, mark: string): number[] {
  if (isWindows) {
    endWindowsTree(shell);
    return [];
  }
  // Stopped first, so that they start no others and keep their parents while the tree is read.
  kill(-shell, "SIGSTOP");
  const tree = isLinux ? findTree(shell, mark, (pid) => kill(pid, "SIGSTOP")) : [-shell].filter(isAlive);
  for (const pid of [-shell, ...tree]) kill(pid);
  return tree;
}

function endWindowsTree(shell: number): void {
  // By its path: Windows looks for a bare name in the working directory first.
  const program = join(systemFolder(), "taskkill.exe");
  try {
    childProcess()
      .spawn(program, ["/PID", String(shell), "/T", "/F"], { stdio: "ignore", windowsHide: true })
      .on("error", () => kill(shell))
      // It may not know the options, as that of Wine: at least the shell itself ends then.
      .on("exit", (code) => code !== 0 && kill(shell));
  } catch {
    kill(shell);
  }
}

/** Returns whether a process, or any process of a group (a negative number), is alive. Zombies are told apart on Linux only. */
export function isAlive(pid: number): boolean {
  if (isLinux && pid > 0) return isRunning(pid);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isObject(error) && error.code === "EPERM";
  }
}

/** Processes that outlive a command, given how long it ran. */
export function findLeft(shell: number, elapsedMs: number, mark: string): RunningProcess[] {
  if (isLinux) return findMarkedSince(shell, elapsedMs, mark).map((pid) => describeProcess(pid));
  return ownGroup && isAlive(-shell) ? [{ pid: shell, command: "process group" }] : [];
}

/** Kills the processes that `findLeft` found for these marks, and those they started since; returns their number. */
export function killLeft(left: ReadonlyMap<string, readonly RunningProcess[]>): number {
  if (!isLinux) {
    const groups = [...left.values()].flat();
    for (const { pid } of groups) kill(-pid);
    return groups.length;
  }
  const found = new Set<number>();
  for (let round = 0; round < mostRounds; round += 1) {
    const fresh = findMarked([...left.keys()]).filter((pid) => !found.has(pid));
    if (fresh.length === 0) break;
    for (const pid of fresh) {
      // Not killed yet: a shell would go on with its next command when the one before has ended.
      kill(pid, "SIGSTOP");
      found.add(pid);
    }
  }
  for (const pid of found) kill(pid);
  return found.size;
}

/** Signals a process, or a group as a negative number. One that is gone, or another user's, is left. */
export function kill(pid: number, signal: "SIGKILL" | "SIGSTOP" = "SIGKILL"): void {
  attempt(() => process.kill(pid, signal));
}
