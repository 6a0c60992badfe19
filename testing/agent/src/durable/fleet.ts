import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Executed, RunsOptions } from "./agents.ts";
import type { Kill } from "./check.ts";
import type { ModelReport, ModelServerOptions } from "./modelServer.ts";
import { now } from "./plan.ts";
import { cpuMs, peakMegabytes } from "./processes.ts";
import type { WrittenSpan } from "./spans.ts";

export interface FleetOptions extends ModelServerOptions, Pick<RunsOptions, "databaseUrl" | "toolMs" | "leaseMs"> {
  /** The number of runs at once in one worker. */
  readonly concurrency: number;
  /** Requests to the model at once, of all workers. */
  readonly requests?: number | undefined;
  /** True if processes write their spans. */
  readonly traced?: boolean;
}

interface Worker {
  readonly name: string;
  readonly child: ChildProcess;
}

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null;

const program = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Worker processes, and the model service that they ask, until `stop()`. */
export class Fleet {
  readonly kills: Kill[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), "toolcrib-fleet-"));
  readonly #options: FleetOptions;
  readonly #model: ChildProcess;
  readonly #modelUrl: string;
  readonly #workers: Worker[] = [];
  /** Processor time by worker, also of those that are gone. */
  readonly #cpu = new Map<string, number>();
  #peakMegabytes = 0;
  #started = 0;

  private constructor(options: FleetOptions, model: ChildProcess, modelUrl: string) {
    this.#options = options;
    this.#model = model;
    this.#modelUrl = modelUrl;
  }

  static async start(options: FleetOptions): Promise<Fleet> {
    const { plan, latencyMs } = options;
    const model = fork(program("modelServer.ts"), [JSON.stringify({ plan, latencyMs } satisfies ModelServerOptions)]);
    const [{ url }] = (await once(model, "message")) as [{ url: string }];
    return new Fleet(options, model, url);
  }

  get workers(): readonly string[] {
    return this.#workers.map(({ name }) => name);
  }

  /** The options with which the process `name` opens runs. */
  runsOptions(name: string): RunsOptions {
    const { toolMs, leaseMs, concurrency, requests, traced } = this.#options;
    const databaseUrl = new URL(this.#options.databaseUrl);
    // The server tells connections apart by it.
    databaseUrl.searchParams.set("application_name", name);
    const ledger = join(this.#folder, `${name}.ledger`);
    const spans = traced ? join(this.#folder, `${name}.spans`) : undefined;
    return {
      ...{ name, databaseUrl: databaseUrl.href, modelUrl: this.#modelUrl, ledger, toolMs, leaseMs },
      ...{ concurrency, requests, spans },
    };
  }

  /** Starts a worker. Resolves to its name when it takes runs. */
  async startWorker(): Promise<string> {
    this.#started += 1;
    const name = `worker-${this.#started}`;
    const child = fork(program("worker.ts"), [JSON.stringify(this.runsOptions(name))]);
    this.#workers.push({ name, child });
    // Resolves at its end too: it may be killed before it is ready.
    await Promise.race([once(child, "message"), once(child, "exit")]);
    return name;
  }

  /** Ends a worker at once, as a crash or a machine that is taken away does. */
  kill(name: string): void {
    const at = this.#workers.findIndex((worker) => worker.name === name);
    const [worker] = at < 0 ? [] : this.#workers.splice(at, 1);
    if (!worker) throw new Error(`${name} is no worker`);
    this.#count(worker);
    worker.child.kill("SIGKILL");
    this.kills.push({ worker: name, at: now() });
  }

  /** Stops a worker for a while, as a machine that sleeps does. Resolves when it goes on, or would. */
  async sleep(name: string, ms: number, whenAsleep: () => Promise<unknown>): Promise<void> {
    const child = this.#workers.find((worker) => worker.name === name)?.child;
    child?.kill("SIGSTOP");
    try {
      await whenAsleep();
      await sleep(ms);
    } finally {
      child?.kill("SIGCONT");
    }
  }

  /** Processor time of all workers so far. That of a killed one is read right before. */
  workersCpuMs(): number {
    for (const worker of this.#workers) this.#count(worker);
    return [...this.#cpu.values()].reduce((sum, each) => sum + each, 0);
  }

  /** The most memory that a worker has had, as far as was looked: at each kill and by `workersCpuMs`. */
  get peakMegabytes(): number {
    return this.#peakMegabytes;
  }

  /** Reads the notes of the tools. */
  executed(): readonly Executed[] {
    return this.#lines<Executed>(".ledger");
  }

  /** The spans that have ended, with the process of each. */
  spans(): readonly (WrittenSpan & { readonly process: string })[] {
    return this.#lines<WrittenSpan>(".spans");
  }

  async modelReport(): Promise<ModelReport> {
    this.#model.send("report");
    const [report] = (await once(this.#model, "message")) as [ModelReport];
    return report;
  }

  async stop(): Promise<void> {
    const running = this.#workers.map(({ child }) => child).filter((child) => isRunning(child));
    const ended = running.map((child) => once(child, "exit"));
    for (const child of running) child.send("close");
    await Promise.all(ended);
    if (isRunning(this.#model)) {
      const end = once(this.#model, "exit");
      this.#model.disconnect();
      await end;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #lines<T>(ending: string): readonly (T & { readonly process: string })[] {
    const files = readdirSync(this.#folder).filter((file) => file.endsWith(ending));
    return files.flatMap((file) => {
      const process = file.slice(0, -ending.length);
      const lines = readFileSync(join(this.#folder, file), "utf8").split("\n").slice(0, -1);
      return lines.map((line) => ({ ...(JSON.parse(line) as T), process }));
    });
  }

  #count({ name, child }: Worker): void {
    if (child.pid === undefined) return;
    this.#cpu.set(name, cpuMs(child.pid) ?? this.#cpu.get(name) ?? 0);
    this.#peakMegabytes = Math.max(this.#peakMegabytes, peakMegabytes(child.pid));
  }
}
