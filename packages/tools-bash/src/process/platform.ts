import { constants } from "node:os";
import { isAbsolute, join } from "node:path";
import { ToolError } from "@toolcrib/core";
import { describeProcess, findMarked, findMarkedSince, findTree, isRunning, type RunningProcess } from "./processes.ts";
import { findProgram } from "./programs.ts";

/*
 * Where systems differ. Linux is tested. On macOS and the BSDs the process group is all that is killed; Windows (Git for
 * Windows's sh, taskkill) is untested.
 */

const isWindows = process.platform === "win32";
const isLinux = process.platform === "linux";

/** `node:child_process`, loaded when the first command runs: it takes 8 ms, paid otherwise by whoever only imports this package. */
export function childProcess(): typeof import("node:child_process") {
  return process.getBuiltinModule("node:child_process");
}

/** How often `killLeft` looks again: a process may start another while the list is made. */
const mostRounds = 50;

/** Whether children get a process group of their own. Windows has none; there it would open a console window. */
export const ownGroup: boolean = !isWindows;

/**
 * Finds the shell that runs `-c` for good: `sh`, `bash`, or a path as it is. What it returns gives the path, or throws a
 * ToolError where there is none (`notIn`: as in `findProgram`).
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
  if (isWindows) return findProgram(`${wanted}.exe`, notIn);
  return wanted === "sh" ? "/bin/sh" : findProgram(wanted, notIn);
}

/** What a shell says of a program ended by a signal: 128 and the signal's number. */
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal ? constants.signals[signal] : 0);
}

/**
 * Kills a command's whole tree once: its process group, on Linux also everything that carries its mark or descends from it.
 * Returns what it found, for `isAlive`; call it again until that is nothing, for what was started meanwhile.
 */
export function killTree(shell: number, mark: string): number[] {
  if (isWindows) {
    endWindowsTree(shell);
    return [];
  }
  // Stopped first: none of them starts another meanwhile, and whose child each is can still be seen.
  kill(-shell, "SIGSTOP");
  const tree = isLinux ? findTree(shell, mark, (pid) => kill(pid, "SIGSTOP")) : [-shell].filter(isAlive);
  for (const pid of [-shell, ...tree]) kill(pid);
  return tree;
}

function endWindowsTree(shell: number): void {
  // By its path: a bare name is looked for in the working directory first.
  const program = join(process.env.SystemRoot ?? "C:\\Windows", "System32", "taskkill.exe");
  try {
    childProcess()
      .spawn(program, ["/PID", String(shell), "/T", "/F"], { stdio: "ignore" })
      .on("error", () => {});
  } catch {
    // Nothing more can be done.
  }
}

/** Whether a process, or any of a group (as a negative number), is there. Only /proc tells those that wait to be collected. */
export function isAlive(pid: number): boolean {
  if (isLinux && pid > 0) return isRunning(pid);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** What a command that has ended by itself left running, given how long it ran. */
export function findLeft(shell: number, elapsedMs: number, mark: string): RunningProcess[] {
  if (isLinux) return findMarkedSince(shell, elapsedMs, mark).map((pid) => describeProcess(pid));
  return ownGroup && isAlive(-shell) ? [{ pid: shell, command: "process group" }] : [];
}

/** Kills what `findLeft` found for these marks and what that started since; returns how many. */
export function killLeft(left: ReadonlyMap<string, readonly RunningProcess[]>): number {
  if (!isLinux) {
    const groups = [...left.values()].flat();
    for (const { pid } of groups) kill(-pid);
    return groups.length;
  }
  const killed = new Set<number>();
  for (let round = 0; round < mostRounds; round += 1) {
    const fresh = findMarked([...left.keys()]).filter((pid) => !killed.has(pid));
    if (fresh.length === 0) break;
    for (const pid of fresh) {
      kill(pid);
      killed.add(pid);
    }
  }
  return killed.size;
}

/** Signals a process, or a group as a negative number. */
export function kill(pid: number, signal: "SIGKILL" | "SIGSTOP" = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone, or another user's: nothing more can be done.
  }
}
