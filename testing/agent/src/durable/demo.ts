// npm run durable:demo
// Twenty runs of an agent on three worker processes, one of which is killed. Uses an installed PostgreSQL in a temporary folder, or
// a database of its own on the server at DATABASE_URL. No model is needed: a scripted one answers.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@toolcrib/core/text";
import { startPostgres } from "@toolcrib/testing/postgres";
import { openRuns } from "./agents.ts";
import type { Verdict } from "./check.ts";
import { Database } from "./database.ts";
import { Fleet } from "./fleet.ts";
import { now, plans, stepsOf } from "./plan.ts";
import { judge, startAll } from "./show.ts";

const runs = 20;
const plan = "short";
const pace = { plan, latencyMs: [400, 1200], toolMs: [200, 600], leaseMs: 4000, concurrency: 7 } as const;
const stepsOfRun = stepsOf(plans[plan]).flat().length;
const allSteps = runs * stepsOfRun;

const begun = now();
const say = (line: string): void => console.log(line);
const tell = (line: string): void => say(`${((now() - begun) / 1000).toFixed(1).padStart(5)} s  ${line}`);
const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`;

const closing: (() => Promise<void>)[] = [];
const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort());
try {
  process.exitCode = (await demo()) ? 0 : 1;
} catch (error) {
  if (!interrupted.signal.aborted) throw error;
  process.exitCode = 130;
} finally {
  for (const close of closing.toReversed()) await close();
}

async function demo(): Promise<boolean> {
  const databaseUrl = await openDatabase();
  if (databaseUrl === undefined) return false;
  const fleet = await Fleet.start({ ...pace, databaseUrl });
  closing.push(() => fleet.stop());
  const client = await openRuns(fleet.runsOptions("client"));
  closing.push(() => client.close());
  const database = new Database(databaseUrl);
  closing.push(() => database.end());
  await Promise.all([1, 2, 3].map(() => fleet.startWorker()));
  tell(`Three worker processes are ready: ${fleet.workers.join(", ")}.`);
  const jobs = Array.from({ length: runs }, (_, index) => `run-${index + 1}`);
  await startAll(client, jobs);
  tell(
    `${runs} runs are queued. Each asks the model ${plans[plan].length} times and calls ${stepsOfRun - plans[plan].length} tools: ${stepsOfRun} steps.`,
  );
  await waitForSteps(database, Math.round(allSteps * 0.4));
  const places = await whereRunsAre(fleet);
  const heldBy = (name: string): string[] => places.filter(({ worker }) => worker === name).map(({ job }) => job);
  const [victim = ""] = fleet.workers.toSorted((one, other) => heldBy(other).length - heldBy(one).length);
  const held = heldBy(victim);
  fleet.kill(victim);
  tell(
    `${victim} is killed (kill -9) in the midst of ${count(held.length, "run")}. The others notice when it has been silent for ${pace.leaseMs / 1000} s.`,
  );
  await tellTakeovers(fleet, victim, held);
  for (const job of jobs) await client.result(job, { signal: interrupted.signal }).catch(() => undefined);
  interrupted.signal.throwIfAborted();
  const verdict = await judge({ plan, fleet, database, client }, jobs);
  tell("Every run has ended.");
  report(verdict);
  return verdict.problems.length === 0;
}

async function openDatabase(): Promise<string | undefined> {
  const given = process.env.DATABASE_URL;
  if (given === undefined) {
    const server = await startPostgres();
    if (!server) {
      say("Or name a server by DATABASE_URL, such as postgresql://postgres:secret@localhost:5432/postgres.");
      return undefined;
    }
    closing.push(() => server.stop());
    tell("PostgreSQL runs in a temporary folder.");
    return server.databaseUrl;
  }
  const server = new Database(given);
  closing.push(() => server.end());
  const name = `toolcrib_demo_${randomBytes(4).toString("hex")}`;
  try {
    await server.query(`create database ${name}`);
  } catch (error) {
    const reason = messageOf(error) || String((error as NodeJS.ErrnoException).code);
    say(`No database can be made on the server at DATABASE_URL: ${reason}`);
    return undefined;
  }
  closing.push(() => server.query(`drop database ${name} with (force)`).then(() => undefined));
  tell(`The database ${name} is made on the server at DATABASE_URL, and dropped at the end.`);
  const url = new URL(given);
  url.pathname = name;
  return url.href;
}

async function waitForSteps(database: Database, steps: number): Promise<void> {
  for (let told = 0; ; ) {
    const records = (await database.stepRecords()).filter(({ step }) => !step.startsWith("start:"));
    if (records.length >= steps) return;
    if (records.length >= told + 20) {
      told = records.length;
      tell(`${told} of ${allSteps} steps are recorded.`);
    }
    await sleep(200, undefined, { signal: interrupted.signal });
  }
}

/** The place at which each run that goes on was last seen. */
async function whereRunsAre(fleet: Fleet): Promise<readonly { job: string; worker: string }[]> {
  const { asked } = await fleet.modelReport();
  const last = new Map<string, { job: string; worker: string; at: number; ends: boolean }>();
  for (const { job, worker, at, reply } of asked)
    last.set(job, { job, worker, at, ends: reply === plans[plan].length });
  for (const { job, worker, at } of fleet.executed()) {
    if (at > (last.get(job)?.at ?? 0)) last.set(job, { job, worker, at, ends: false });
  }
  return [...last.values()].filter(({ ends }) => !ends);
}

async function tellTakeovers(fleet: Fleet, victim: string, held: readonly string[]): Promise<void> {
  const taken = new Map<string, string>();
  const limit = now() + 60_000;
  while (taken.size < held.length && now() < limit) {
    await sleep(200, undefined, { signal: interrupted.signal });
    const { asked } = await fleet.modelReport();
    for (const { job, worker } of [...asked, ...fleet.executed()]) {
      if (held.includes(job) && worker !== victim) taken.set(job, worker);
    }
  }
  for (const worker of fleet.workers) {
    const own = held.filter((job) => taken.get(job) === worker);
    if (own.length > 0)
      tell(
        `${worker} takes over ${own.join(", ")}: it reads the recorded steps of each, and goes on with the next one.`,
      );
  }
}

function report({ problems, steps, again, silent, unknown }: Verdict): void {
  say("");
  say(`${steps} of ${allSteps} steps are recorded, each once.`);
  say(`The kill cut off ${count(again, "step")} that had no record yet and may run again: another worker did so.`);
  if (silent > 0)
    say(
      `This machine is so busy that a living worker was taken for dead: ${count(silent, "step")} of it began again elsewhere.`,
    );
  if (unknown === 0) say('The tool "charge" must never run twice: it ran once in every run.');
  else
    say(
      `The tool "charge" must never run twice. Of ${count(unknown, "run")} the kill left unknown whether it ran: the model was told so, and it was not called again.`,
    );
  for (const problem of problems) say(`NOT AS PROMISED: ${problem}`);
  if (problems.length === 0)
    say(
      "No finished step ran twice. That was checked outside of the database, by what the model was asked and what the tools wrote down.",
    );
}
