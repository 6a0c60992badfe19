import type { ChildProcess, StdioOptions } from "node:child_process";
import { closeSync } from "node:fs";
import type { Socket } from "node:net";
import { ToolError } from "@toolcrib/core";
import { afterPoll, ChildOutput } from "./childOutput.ts";
import { openInput } from "./commandInput.ts";
import { HeadTailBuffer } from "./headTailBuffer.ts";
import { inheritedDescriptors, nullDescriptors } from "./inheritedDescriptors.ts";
import { type PipeEnds, takePipes } from "./outputPipes.ts";
import { childProcess, findLeft, isAlive, killTree, ownGroup } from "./platform.ts";
import type { ShellRequest, ShellResult } from "./shellRequest.ts";

/** The first descriptor after standard error. */
const firstOwn = 3;
/** The longest wait for a killed tree to end. */
const longestKillMs = 500;

/** Runs a command, as `runShell` says. */
export async function runProgram(request: ShellRequest): Promise<ShellResult> {
  const started = performance.now();
  const pipes = takePipes(2);
  // Bash takes the sockets that Node would make for a connection from elsewhere, and runs the user's start-up file.
  const inputPipe = request.onInput && takePipes(1, true)?.[0];
  const child = start(request, pipes, inputPipe);
  const inputEnd = inputPipe?.write ?? child.stdin;
  // If no descriptors are left, the child has no streams.
  const input = request.onInput && inputEnd ? openInput(inputEnd) : undefined;
  feed(child, request);
  const sinks = request.output ?? { stdout: new HeadTailBuffer(), stderr: new HeadTailBuffer() };
  const output = new ChildOutput(child, sinks, pipes);
  const { pid } = child;
  if (pid !== undefined && input) request.onInput?.(input);
  if (pid !== undefined) request.onStart?.(pid);
  // Deno throws where nothing was started.
  if (request.unref && pid !== undefined) {
    child.unref();
    output.unref();
  }
  const stop = waitForStop(request);
  try {
    const first = await Promise.race([output.exited, stop.promise]);
    // After the exit the limit only ends the wait for more output; an abort kills what the command left running.
    const end = typeof first === "number" ? await Promise.race([output.drained(), stop.promise]) : first;
    if (pid !== undefined && (end === "abort" || typeof first !== "number")) await endTree(pid, request.mark, output);
    if (end === "abort") throw abortError(request.signal);
    if (typeof first !== "number") return { ...output.texts(), exitCode: -1, running: [] };
    const running = pid === undefined ? [] : findLeft(pid, performance.now() - started, request.mark);
    return { ...output.texts(), exitCode: first, running };
  } finally {
    stop.clear();
    output.release();
    input?.discard();
  }
}

function start(
  request: ShellRequest,
  pipes: readonly PipeEnds[] | undefined,
  inputPipe: PipeEnds | undefined,
): ChildProcess {
  // The last ones that write output and read input are then the command's, so that their end can be seen.
  const handedOver = [...(pipes ?? []).map(({ write }) => write), ...(inputPipe ? [inputPipe.read] : [])];
  const ours = [...(pipes ?? []).map(({ read }) => read), ...(inputPipe ? [inputPipe.write] : [])];
  try {
    return childProcess().spawn(request.file, request.args, {
      cwd: request.cwd,
      env: { ...request.env },
      detached: ownGroup,
      windowsHide: true,
      stdio: descriptorsOf(request, pipes, inputPipe),
    });
  } catch (error) {
    for (const end of ours) closeSync(end);
    throw error;
  } finally {
    for (const end of handedOver) closeSync(end);
  }
}

/**
 * Lists the descriptors: standard input closed or piped, standard output and error piped, then the request's own descriptors; none that
 * this process inherited.
 */
function descriptorsOf(
  { descriptors = [], onInput }: ShellRequest,
  pipes: readonly PipeEnds[] | undefined,
  inputPipe: PipeEnds | undefined,
): StdioOptions & unknown[] {
  const stdin = onInput ? (inputPipe?.read ?? "pipe") : "ignore";
  const given = descriptors.map((descriptor) => (typeof descriptor === "number" ? descriptor : "pipe"));
  const [stdout, stderr] = pipes?.map(({ write }) => write) ?? (["pipe", "pipe"] as const);
  const stdio: (number | "ignore" | "pipe")[] = [stdin, stdout ?? "pipe", stderr ?? "pipe", ...given];
  const { replaceable } = inheritedDescriptors();
  const nothing = nullDescriptors(replaceable.length);
  replaceable.forEach((inherited, index) => {
    while (stdio.length <= inherited) stdio.push("ignore");
    if (stdio[inherited] === "ignore") stdio[inherited] = nothing[index] ?? "ignore";
  });
  return stdio;
}

/** Writes the bytes that the program reads. If no descriptors are left, the child has no streams and emits an error later. */
function feed(child: ChildProcess, { descriptors = [] }: ShellRequest): void {
  const streams: readonly unknown[] | undefined = child.stdio;
  descriptors.forEach((bytes, index) => {
    if (typeof bytes === "number") return;
    const pipe = streams?.[firstOwn + index] as Socket | null | undefined;
    pipe?.on("error", () => {});
    pipe?.end(bytes);
  });
}

async function endTree(shell: number, mark: string, output: ChildOutput): Promise<void> {
  const giveUp = performance.now() + longestKillMs;
  for (let pauseMs = 1; performance.now() < giveUp; pauseMs *= 2) {
    let tree = killTree(shell, mark);
    if (tree.length === 0 && output.isClosed) return;
    // Checking the processes that are ending costs less than listing all again.
    do {
      await afterPoll(pauseMs);
      tree = tree.filter(isAlive);
    } while (tree.length > 0 && performance.now() < giveUp);
  }
}

function abortError(signal: AbortSignal | undefined): ToolError {
  return new ToolError({
    code: "aborted",
    toolName: "run_bash",
    message: "Aborted; the command and everything it started were killed",
    details: { reason: signal?.reason },
  });
}

/** Resolves at the time limit or the abort, whichever comes first. */
function waitForStop({ timeoutMs, signal, unref }: ShellRequest): {
  promise: Promise<"limit" | "abort">;
  clear(): void;
} {
  const { promise, resolve } = Promise.withResolvers<"limit" | "abort">();
  const onAbort = (): void => resolve("abort");
  // After a poll phase: an exit that happened while this process was busy counts as an exit.
  const timer = setTimeout(() => setImmediate(resolve, "limit"), timeoutMs);
  if (unref) timer.unref();
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  return {
    promise,
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    },
  };
}
