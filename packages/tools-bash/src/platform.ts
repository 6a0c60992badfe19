import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { ToolError } from "@toolcrib/core";
import { findTree } from "./processes.ts";

/*
 * Where systems differ. Linux is tested. On macOS and the BSDs the process group is all that is killed; Windows (Git for
 * Windows's sh, taskkill) is untested.
 */

const isWindows = process.platform === "win32";

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
 * Returns how many processes it found: call again until none is left, for what was started meanwhile.
 */
export function killTree(shell: number, mark: string): number {
  if (isWindows) {
    spawn("taskkill", ["/PID", String(shell), "/T", "/F"], { stdio: "ignore" }).on("error", () => {});
    return 0;
  }
  // Before the group goes: afterwards nobody knows whose children the others were.
  const tree = findTree(shell, mark);
  const group = groupIsAlive(shell) ? 1 : 0;
  kill(-shell);
  for (const pid of tree) kill(pid);
  // Only /proc tells the living from those that wait to be collected.
  return process.platform === "linux" ? tree.length : group;
}

/** Whether any process of the group is left; one that waits to be collected counts. */
export function groupIsAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** SIGKILL to a process, or to a group as a negative number. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Already gone, or another user's: nothing more can be done.
  }
}
