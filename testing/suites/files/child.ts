import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Answer {
  output: string;
  ms: number;
  maxRssMb: number;
}

export interface ToolChild {
  readonly process: ChildProcess;
  call(tool: string, args: Record<string, unknown>, options?: Record<string, unknown>): Promise<Answer>;
  /** Sends a request without waiting for the answer. */
  send(tool: string, args: Record<string, unknown>, options?: Record<string, unknown>): void;
  /** Sends SIGKILL. Resolves when the process has ended, to the lines that it had still printed. */
  kill(): Promise<void>;
  readonly answers: Answer[];
}

/** Returns the rounds of a suite: TOOLCRIB_ROUNDS, else a small number. */
export function rounds(small: number): number {
  return Number(process.env.TOOLCRIB_ROUNDS) || small;
}

/** The time limit of a suite in milliseconds: as long as it needs. */
export const suiteTimeout = 4 * 3_600_000;

/** Starts a process that runs file tools on request. It needs the packages built. */
export async function startToolChild(prefix: string[] = []): Promise<ToolChild> {
  const script = fileURLToPath(new URL("toolChild.ts", import.meta.url));
  const [command = process.execPath, ...args] = [...prefix, process.execPath, script];
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "inherit"],
    // With one thread for file work a tracer that counts calls by thread counts them all.
    env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
  });
  // Requests may still be on their way when it is killed.
  child.stdin.on("error", () => {});
  const answers: Answer[] = [];
  let wake = (): void => {};
  let ready = false;
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line === "ready") ready = true;
    else answers.push(JSON.parse(line));
    wake();
  });
  const change = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
      child.once("close", () => resolve());
    });
  while (!ready) {
    if (child.exitCode !== null) throw new Error(`the tool process ended with ${child.exitCode} before it was ready`);
    await change();
  }
  const send: ToolChild["send"] = (tool, args, options = {}) => {
    child.stdin.write(`${JSON.stringify({ tool, args, options })}\n`);
  };
  return {
    process: child,
    answers,
    send,
    async call(...request) {
      const before = answers.length;
      send(...request);
      while (answers.length === before && child.exitCode === null && child.signalCode === null) await change();
      return answers[before] as Answer;
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    },
  };
}
