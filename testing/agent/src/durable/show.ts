import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { DurableRuns } from "@toolcrib/durable";
import { type PostgresServer, startPostgres } from "@toolcrib/testing/postgres";
import { openRuns, untilTaken } from "./agents.ts";
import { check, type Verdict } from "./check.ts";
import { Database } from "./database.ts";
import { ConnectionSamples, countWork, type DatabaseFigures } from "./databaseFigures.ts";
import { causeFaults, type Faults } from "./faults.ts";
import { Fleet, type FleetOptions } from "./fleet.ts";
import { fraction, now, plans, taskOf } from "./plan.ts";
import { treeCpuMs } from "./processes.ts";

export interface ShowOptions extends Omit<FleetOptions, "databaseUrl"> {
  readonly runs: number;
  readonly workers: number;
  /** A worker drawn at random is killed and replaced this often. Undefined: never. */
  readonly killEveryMs?: number | undefined;
  /** Other faults of workers and the database. */
  readonly faults?: Faults | undefined;
  readonly seed: number;
  /** Ends a show that hangs. */
  readonly limitMs: number;
}

export interface ShowFigures {
  readonly verdict: Verdict;
  readonly kills: number;
  /** Counts of the other faults. */
  readonly faults: Readonly<Record<string, number>>;
  /** The most requests in flight at once, as the model counts them. */
  readonly mostInFlight: number;
  /** From the first start of a run to the end of the last one. */
  readonly seconds: number;
  readonly database: DatabaseFigures;
  /** The average number of connections in each state. */
  readonly connections: Readonly<Record<string, number>>;
  readonly cpu: ProcessorTimes;
  readonly cores: number;
  /** The most memory that a worker had. */
  readonly workerMegabytes: number;
}

/** In seconds. */
export interface ProcessorTimes {
  readonly workers: number;
  readonly database: number;
  readonly model: number;
  readonly client: number;
}

interface Stage {
  readonly options: ShowOptions;
  readonly server: PostgresServer;
  readonly fleet: Fleet;
  readonly database: Database;
  readonly client: DurableRuns;
  say(line: string): void;
}

/** Many runs on a few workers that are killed, on a PostgreSQL that waits for its disk. Undefined where there is none. */
export async function show(options: ShowOptions, say: (line: string) => void): Promise<ShowFigures | undefined> {
  const settings = { shared_preload_libraries: "pg_stat_statements", max_connections: 300, shared_buffers: "256MB" };
  const server = await startPostgres({ durable: true, settings });
  if (!server) return undefined;
  const closing: (() => Promise<void>)[] = [() => server.stop()];
  try {
    const databaseUrl = await server.createDatabase("runs");
    const fleet = await Fleet.start({ ...options, databaseUrl });
    closing.push(() => fleet.stop());
    const database = new Database(databaseUrl);
    closing.push(() => database.end());
    const client = await openRuns(fleet.runsOptions("client"));
    closing.push(() => client.close());
    return await measure({ options, server, fleet, database, client, say });
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

async function measure(stage: Stage): Promise<ShowFigures> {
  const { options, fleet, database, client, say } = stage;
  await Promise.all(Array.from({ length: options.workers }, () => fleet.startWorker()));
  say(`${options.workers} workers are ready.`);
  const work = await countWork(database);
  const before = await processorTimes(stage);
  const begun = now();
  const jobs = Array.from({ length: options.runs }, (_, index) => `job-${index + 1}`);
  const ended = new AbortController();
  const killing = killAtRandom(fleet, options, ended.signal);
  const faults = causeFaults(stage, options, ended.signal);
  await startAll(client, jobs);
  say(`${jobs.length} runs are queued.`);
  const samples = new ConnectionSamples(database);
  await waitForAll(stage, begun, samples);
  const seconds = (now() - begun) / 1000;
  ended.abort();
  await killing;
  const caused = await faults;
  const after = await processorTimes(stage);
  // Processes of the server hand in their counters once a second.
  await sleep(1500);
  return {
    verdict: await judge({ ...stage, plan: options.plan }, jobs),
    kills: fleet.kills.length,
    faults: caused,
    mostInFlight: (await fleet.modelReport()).mostInFlight,
    seconds,
    database: await work(),
    connections: samples.means(),
    cpu: {
      workers: after.workers - before.workers,
      database: after.database - before.database,
      model: after.model - before.model,
      client: after.client - before.client,
    },
    cores: availableParallelism(),
    workerMegabytes: fleet.peakMegabytes,
  };
}

export async function startAll(client: DurableRuns, jobs: readonly string[]): Promise<void> {
  const waiting = [...jobs];
  const startSome = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      await untilTaken(() => client.start("worker", taskOf(job), { id: job }));
    }
  };
  await Promise.all(Array.from({ length: 8 }, startSome));
}

/** Compares the database with what the model and the tools have seen. */
export async function judge(
  { plan, fleet, database, client }: Pick<Stage, "fleet" | "database" | "client"> & Pick<ShowOptions, "plan">,
  jobs: readonly string[],
): Promise<Verdict> {
  const answers = new Map<string, string>();
  for (const job of jobs) {
    const run = await client.get(job);
    answers.set(job, run?.answer ?? run?.error?.message ?? run?.status ?? "unknown");
  }
  const { asked, problems } = await fleet.modelReport();
  const records = await database.stepRecords();
  const verdict = check({
    plan: plans[plan],
    jobs,
    answers,
    records,
    asked,
    executed: fleet.executed(),
    kills: fleet.kills,
  });
  return { ...verdict, problems: [...verdict.problems, ...problems] };
}

async function processorTimes({ server, fleet }: Stage): Promise<ProcessorTimes> {
  const { user, system } = process.cpuUsage();
  return {
    workers: fleet.workersCpuMs() / 1000,
    database: treeCpuMs(server.pid) / 1000,
    model: (await fleet.modelReport()).cpuMs / 1000,
    client: (user + system) / 1_000_000,
  };
}

/** Resolves when the signal is aborted and every worker that was started is ready. */
async function killAtRandom(fleet: Fleet, { killEveryMs, seed }: ShowOptions, signal: AbortSignal): Promise<void> {
  if (killEveryMs === undefined) return;
  for (let turn = 1; ; turn += 1) {
    await sleep(killEveryMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const { workers } = fleet;
    fleet.kill(workers[Math.floor(fraction(seed, turn) * workers.length)] ?? "");
    // A machine on which a start takes longer than that would come to no work.
    await fleet.startWorker();
  }
}

async function waitForAll({ database, options, say }: Stage, begun: number, samples: ConnectionSamples): Promise<void> {
  let told = now();
  for (;;) {
    // The server may be on its way.
    const counts = await database.runCounts().catch(() => undefined);
    const { queued = 0, running = 0, ...others } = counts ?? { running: 1 };
    if (queued + running === 0) return;
    const time = Math.round((now() - begun) / 1000);
    const state = Object.entries({ queued, running, ...others })
      .map(([status, count]) => `${count} ${status}`)
      .join(", ");
    if (now() - begun > options.limitMs) {
      say(`Gave up after ${time} s: ${state}.`);
      return;
    }
    if (now() - told > 5000) {
      told = now();
      say(`${time} s: ${state}.`);
    }
    await samples.take().catch(() => undefined);
    await sleep(250);
  }
}
