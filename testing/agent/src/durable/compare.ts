import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { DBOSClient } from "@dbos-inc/dbos-sdk";
import { durable } from "@toolcrib/durable/dbos";
import { startPostgres } from "@toolcrib/testing/postgres";
import type { CompareOptions, Kind } from "./compareWorker.ts";
import { Database } from "./database.ts";
import { countWork, type DatabaseFigures } from "./databaseFigures.ts";
import { now } from "./plan.ts";

export interface Comparison {
  readonly runs: number;
  readonly workers: number;
  readonly rounds: number;
  readonly calls: number;
  readonly latencyMs: number;
}

export interface Compared {
  readonly kind: Kind;
  readonly stepsPerSecond: number;
  readonly steps: number;
  readonly database: DatabaseFigures;
}

/** Durable runs and a workflow written by hand for the same engine, in turn. Resolves to each round of each. */
export async function compare(options: Comparison, say: (line: string) => void): Promise<readonly Compared[]> {
  const settings = { shared_preload_libraries: "pg_stat_statements", max_connections: 200, shared_buffers: "256MB" };
  const server = await startPostgres({ durable: true, settings });
  if (!server) return [];
  try {
    const rounds: Compared[] = [];
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const kind of ["handwritten", "durable", "claimed"] as const) {
        const one = await measure(await server.createDatabase(`${kind}_${round}`), kind, options);
        say(`round ${round}, ${kind}: ${Math.round(one.stepsPerSecond)} steps a second`);
        rounds.push(one);
      }
    }
    return rounds;
  } finally {
    await server.stop();
  }
}

async function measure(databaseUrl: string, kind: Kind, options: Comparison): Promise<Compared> {
  const { runs, workers, calls, latencyMs } = options;
  const client = await (kind === "handwritten" ? clientByHand(databaseUrl) : durable({ databaseUrl }));
  const setup: CompareOptions = { kind, databaseUrl, calls, latencyMs };
  const program = fileURLToPath(new URL("compareWorker.ts", import.meta.url));
  const children: ChildProcess[] = [];
  const database = new Database(databaseUrl);
  try {
    // One after the other: the engine's tables are made by the first worker alone.
    for (let index = 0; index < workers; index += 1) {
      const child = fork(program, [JSON.stringify(setup)]);
      children.push(child);
      await once(child, "message");
    }
    const work = await countWork(database);
    const begun = now();
    const ids = Array.from({ length: runs }, (_, index) => `job-${index}`);
    await Promise.all(ids.map((id) => client.start("worker", "Note them all.", { id })));
    while ((await endedRuns(database, kind)) < runs) await sleep(100);
    const seconds = (now() - begun) / 1000;
    // Processes of the server hand in their counters once a second.
    await sleep(1500);
    const steps = runs * (2 * calls + 1);
    return { kind, steps, stepsPerSecond: steps / seconds, database: await work() };
  } finally {
    const ended = children.map((child) => once(child, "exit"));
    for (const child of children) child.disconnect();
    await Promise.all(ended);
    await database.end();
    await client.close();
  }
}

async function clientByHand(systemDatabaseUrl: string) {
  const options = { queueName: "hand", workflowName: "runByHand" };
  const client = await DBOSClient.create({ systemDatabaseUrl });
  return {
    start: (_: string, task: string, { id: workflowID }: { id: string }) =>
      client.enqueue({ ...options, workflowID }, task),
    close: () => client.destroy(),
  };
}

async function endedRuns(database: Database, kind: Kind): Promise<number> {
  const [table, done] = kind === "handwritten" ? ["dbos.workflow_status", "SUCCESS"] : ["toolcrib.agent_runs", "done"];
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from ${table} where status = '${done}'`,
  );
  return row?.count ?? 0;
}
