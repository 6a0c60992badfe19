import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { checkEvents } from "./checkEvents.ts";
import { compileCache, type ProgramEnd, type ProgramOptions, startProgram } from "./startProgram.ts";

type Run = (args: readonly string[], options: ProgramOptions) => Promise<ProgramEnd>;

const hostFile = fileURLToPath(new URL("./commandHost.mjs", import.meta.url));
const hosts = new Map<string, ChildProcess>();

/** The process for calls of this command. It ends with the process of the tests, and does not keep that from ending. */
function hostOf(bin: string, stdin: "ignore" | "pipe"): ChildProcess {
  const key = `${stdin} ${bin}`;
  const known = hosts.get(key);
  if (known !== undefined) return known;
  const host = fork(hostFile, [bin], { execArgv: [], stdio: [stdin, "ignore", "inherit", "ipc"] });
  hosts.set(key, host);
  host.once("exit", () => hosts.delete(key));
  host.unref();
  host.channel?.unref();
  return host;
}

/**
 * The toolcrib command for all tests of this process in one process (and one more for calls with a standard input): its start is most
 * of what a call costs. Where a standard input stays open or options of Node are given, it is started for it alone, as `startProgram`
 * does; do so for signals, pipes and terminals, too.
 */
export function sharedCommand(bin: string): Run {
  let before: Promise<unknown> = Promise.resolve();
  const busy = new Set<ChildProcess>();
  afterAll(() => {
    // A call that has not ended would hold up the next file.
    for (const host of busy) host.kill("SIGKILL");
  });
  return (args, options) => {
    const { cwd, env = {}, input } = options;
    if (input === "open" || "NODE_OPTIONS" in env) return startProgram(bin, args, options).ended;
    const run = async (): Promise<ProgramEnd> => {
      const host = hostOf(bin, input === undefined ? "ignore" : "pipe");
      busy.add(host);
      const end = await reply(host, { args, cwd, env: { PATH: process.env.PATH, ...compileCache, ...env }, input });
      busy.delete(host);
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
