import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { checkEvents } from "./checkEvents.ts";
import { compileCache, type ProgramEnd, type ProgramOptions, startProgram } from "./startProgram.ts";

type Run = (args: readonly string[], options: ProgramOptions) => Promise<ProgramEnd>;

/**
 * The toolcrib command for all tests of a file in one process (and one more for calls with a standard input): its start is most of
 * what a call costs. Where a standard input stays open or options of Node are given, it is started for it alone, as `startProgram`
 * does; do so for signals, pipes and terminals, too.
 */
export function sharedCommand(bin: string): Run {
  const hosts = new Map<"ignore" | "pipe", ChildProcess>();
  let before: Promise<unknown> = Promise.resolve();
  afterAll(() => {
    for (const host of hosts.values()) host.disconnect();
  });
  const hostWith = (stdin: "ignore" | "pipe"): ChildProcess => {
    const host =
      hosts.get(stdin) ??
      fork(fileURLToPath(new URL("./commandHost.mjs", import.meta.url)), [bin], {
        execArgv: [],
        stdio: [stdin, "ignore", "inherit", "ipc"],
      });
    hosts.set(stdin, host);
    return host;
  };
  return (args, options) => {
    const { cwd, env = {}, input } = options;
    if (input === "open" || "NODE_OPTIONS" in env) return startProgram(bin, args, options).ended;
    const run = async (): Promise<ProgramEnd> => {
      const host = hostWith(input === undefined ? "ignore" : "pipe");
      const end = await reply(host, { args, cwd, env: { PATH: process.env.PATH, ...compileCache, ...env }, input });
      checkEvents(args, end.stdout);
      return end;
    };
    const running = before.then(run);
    before = running.catch(() => {});
    return running;
  };
}

function reply(host: ChildProcess, call: object): Promise<ProgramEnd> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void =>
      reject(new Error(`the command has ended its process with ${code}: ${JSON.stringify(call)}`));
    host.once("exit", ended);
    host.once("message", (end) => {
      host.off("exit", ended);
      resolve(end as ProgramEnd);
    });
    host.send(call);
  });
}
