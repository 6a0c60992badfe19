import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { systemErrorCode } from "@toolcrib/kit/files";
import { ProcessGroup } from "@toolcrib/kit/threads";
import { type Channel, type ChannelEvents, inputGraceMs } from "./channel.ts";

/** Starts a process here that leads to the remote, in a group of its own that ends with it or with this process. */
export function openProcess(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  on: ChannelEvents,
): Channel {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(command, [...args], {
    env,
    stdio: ["pipe", "pipe", "pipe"],
    // Ctrl-C in a terminal does not reach it.
    detached: true,
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let problem = "";
  child.once("error", (error) => {
    const isMissing = systemErrorCode(error) === "ENOENT";
    problem = `: ${command} could not be started: ${isMissing ? "there is no such program on the PATH here" : error.message}`;
  });
  const group = child.pid === undefined ? undefined : new ProcessGroup(spawn, child.pid);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => undefined);
  child.stdout.on("data", (chunk: Buffer) => on.data(chunk));
  child.stderr.setEncoding("utf8").on("data", (text: string) => on.errorText(text));
  void closed.then(() => {
    const { exitCode, signalCode } = child;
    on.end(problem || (signalCode !== null ? ` (${signalCode})` : ` (exit code ${exitCode})`));
    return group?.end();
  });
  return {
    send: (text) => {
      if (child.stdin.writable) child.stdin.write(text);
    },
    close: async () => {
      child.stdin.end();
      await Promise.race([closed, sleep(inputGraceMs, undefined, { ref: false })]);
      await group?.end();
    },
  };
}
