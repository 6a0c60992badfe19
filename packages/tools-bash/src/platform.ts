import { statSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { ToolError } from "@toolcrib/core";
import { describeProcess, findMarked, findMarkedSince, findTree, isRunning, type RunningProcess } from "./processes.ts";

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

/** The shell that runs `-c`. Throws a ToolError where Windows has no `sh` on PATH. */
export function findShell(): string {
  if (!isWindows) return "/bin/sh";
  const shell = findProgram("sh.exe");
  if (shell) return shell;
  throw new ToolError({
    code: "execution_failed",
    toolName: "run_bash",
    message: "No sh on PATH; install Git for Windows and add the folder of its sh.exe to PATH",
    recoverable: false,
  });
}

/** The absolute path of a program on PATH; entries of PATH that are relative do not count. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isFile);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
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
    childProcess()
      .spawn("taskkill", ["/PID", String(shell), "/T", "/F"], { stdio: "ignore" })
      .on("error", () => {});
    return [];
  }
  // Stopped first: none of them starts another meanwhile, and whose child each is can still be seen.
  kill(-shell, "SIGSTOP");
  const tree = isLinux ? findTree(shell, mark, (pid) => kill(pid, "SIGSTOP")) : [-shell].filter(isAlive);
  for (const pid of [-shell, ...tree]) kill(pid);
  return tree;
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
