import { context, trace } from "@opentelemetry/api";
import { hasPostgres, startPostgres } from "@toolcrib/testing/postgres";
import { afterAll, expect, test } from "vitest";
import { openRuns } from "./agents.ts";
import { Database } from "./database.ts";
import { Fleet } from "./fleet.ts";
import { callsOf, plans, stepsOf, taskOf } from "./plan.ts";
import { judge } from "./show.ts";

const plan = "short";
const calls = plans[plan].flatMap((_, index) => callsOf(plans[plan], index + 1));
const jobs = ["job-1", "job-2", "job-3", "job-4"];

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

/** Counts the recorded steps of runs that go on. */
async function stepsInFlight(database: Database): Promise<number> {
  const records = await database.stepRecords();
  const ended = new Set(records.filter(({ step }) => step === `reply:${plans[plan].length}`).map(({ job }) => job));
  return records.filter(({ job }) => !ended.has(job)).length;
}

test.skipIf(!hasPostgres)(
  "a run is one trace, also where its worker is killed, and a step that was recorded has one span",
  async () => {
    const server = await startPostgres();
    if (!server) throw new Error("no server");
    closing.push(() => server.stop());
    const { databaseUrl } = server;
    const pace = { latencyMs: [200, 400], toolMs: [50, 100], leaseMs: 4000, concurrency: 2 } as const;
    const fleet = await Fleet.start({ ...pace, plan, databaseUrl, traced: true });
    closing.push(() => fleet.stop());
    const client = await openRuns(fleet.runsOptions("client"));
    closing.push(() => client.close());
    closing.push(() => {
      trace.disable();
      context.disable();
    });
    const database = new Database(databaseUrl);
    closing.push(() => database.end());
    const first = await fleet.startWorker();
    const requests = new Map<string, string>();
    for (const job of jobs) {
      await trace.getTracer("caller").startActiveSpan("request", async (request) => {
        requests.set(job, request.spanContext().traceId);
        await client.start("worker", taskOf(job), { id: job });
        request.end();
      });
    }
    await expect.poll(() => stepsInFlight(database)).toBeGreaterThan(2);
    fleet.kill(first);
    await fleet.startWorker();
    for (const job of jobs) await client.result(job);
    const verdict = await judge({ plan, fleet, database, client }, jobs);
    expect(verdict).toMatchObject({ problems: [], steps: jobs.length * stepsOf(plans[plan]).flat().length });

    const spans = fleet.spans();
    const seen = fleet.executed();
    const { asked } = await fleet.modelReport();
    let moved = 0;
    for (const [job, traceId] of requests) {
      const own = spans.filter((span) => span.traceId === traceId);
      const start = own.find(({ name }) => name === "start_run worker");
      const steps = own.filter(({ parent }) => parent === start?.spanId);
      expect(steps.length).toBe(own.length - 2);
      // What a kill cut off has no span, or one from the moment between its end and its record.
      const chats = steps.filter(({ name }) => name === "chat scripted").length;
      expect(chats).toBeGreaterThanOrEqual(plans[plan].length);
      expect(chats).toBeLessThanOrEqual(asked.filter((one) => one.job === job).length);
      for (const { id, name } of calls) {
        const found = steps.filter((span) => span.name === `execute_tool ${name}` && span.call === id).length;
        expect(found).toBeLessThanOrEqual(seen.filter((one) => one.job === job && one.call === id).length);
      }
      // A turn that was killed has none. One that was taken from a living worker, which was too busy to say so in time, has its own.
      const turns = own.filter(({ name }) => name === "invoke_agent worker").length;
      expect(turns).toBeGreaterThanOrEqual(1);
      expect(turns).toBeLessThanOrEqual(1 + verdict.silent);
      if (new Set(steps.map(({ process }) => process)).size > 1) moved += 1;
    }
    expect(moved).toBeGreaterThan(0);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(jobs.length);
  },
);
