import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import type { ProgramRun } from "./examples.ts";

const host = fileURLToPath(new URL("./blockHost.mjs", import.meta.url));

interface Host {
  readonly child: ChildProcess;
  readonly closed: Promise<unknown[]>;
  /** Its output since the last program. */
  readonly printed: { out: string; errors: string };
}

/** Runs programs one after the other in one process. One that fails, or calls `process.exit`, ends it, and the next one gets a new one. */
export class BlockRunner {
  readonly #flags: readonly string[];
  #host: Host | undefined;

  /** For the tests of the file that makes it. `flags` are Node's. */
  constructor(flags: readonly string[] = []) {
    this.#flags = flags;
    afterAll(() => this.#host?.child.disconnect());
  }

  async run(file: string, cwd: string, env: NodeJS.ProcessEnv): Promise<ProgramRun> {
    this.#host ??= startHost(this.#flags, cwd, env);
    const { child, closed, printed } = this.#host;
    const ended = Promise.race([once(child, "message"), closed]);
    child.send({ file, cwd, env });
    const [end] = await ended;
    if (typeof end !== "object" || end === null) {
      this.#host = undefined;
      return { code: end ?? undefined, ...printed };
    }
    const { code, mark } = end as { code: number; mark: string };
    const take = async (name: "out" | "errors", stream: NodeJS.ReadableStream | null): Promise<string> => {
      while (!printed[name].includes(mark)) await Promise.race([once(stream ?? child, "data"), closed]);
      const [own = "", rest = ""] = printed[name].split(mark);
      printed[name] = rest;
      return own;
    };
    return { code, out: await take("out", child.stdout), errors: await take("errors", child.stderr) };
  }
}

function startHost(flags: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Host {
  const child = spawn(process.execPath, [...flags, host], { cwd, env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const printed = { out: "", errors: "" };
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => (printed.out += piece));
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => (printed.errors += piece));
  return { child, closed: once(child, "close"), printed };
}
