import { spawn } from "node:child_process";
import type { Host } from "../host.ts";

interface ShellLine {
  readonly command: string;
  readonly cwd: string;
  readonly host: Pick<Host, "env" | "once" | "off">;
  /** Goes to its standard input. Default: nothing. */
  readonly input?: string | undefined;
  readonly signal: AbortSignal;
  /** Sent to all its processes when `signal` fires. */
  readonly killSignal: "SIGTERM" | "SIGKILL";
  onOutput(text: string, stream: "stdout" | "stderr"): void;
}

export interface ShellEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Limits how long a process that a command leaves running may hold its output open. Milliseconds. */
const drainMs = 250;

/** Runs a line of the user's own in the user's shell, with all the user's rights. Rejects where it cannot be started, or is aborted before. */
export async function runShellLine({
  command,
  cwd,
  host,
  input,
  signal,
  killSignal,
  onOutput,
}: ShellLine): Promise<ShellEnd> {
  signal.throwIfAborted();
  const isWindows = process.platform === "win32";
  const child = spawn(command, {
    cwd,
    env: host.env,
    shell: host.env.SHELL || true,
    stdio: "pipe",
    detached: !isWindows,
  });
  // The whole group: a command may have started others.
  const end = (how: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(isWindows ? child.pid : -child.pid, how);
    } catch {
      // All of it has ended.
    }
  };
  const stop = (): void => end(killSignal);
  const leave = (): void => end("SIGKILL");
  signal.addEventListener("abort", stop, { once: true });
  host.once("exit", leave);
  // It may end without reading.
  child.stdin.on("error", () => {}).end(input ?? "");
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => onOutput(text, stream));
  return new Promise<ShellEnd>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, ended) => resolve({ code, signal: ended }));
    child.once("exit", (code, ended) => {
      setTimeout(() => resolve({ code, signal: ended }), drainMs).unref();
    });
  }).finally(() => {
    signal.removeEventListener("abort", stop);
    host.off("exit", leave);
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
  });
}
