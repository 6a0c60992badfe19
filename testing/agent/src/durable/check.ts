import type { Executed } from "./agents.ts";
import type { Asked } from "./modelServer.ts";
import { answerOf, callsOf, type Plan, stepsOf } from "./plan.ts";

/** A worker process that was killed with `kill -9`. */
export interface Kill {
  readonly worker: string;
  readonly at: number;
}

/** The database's record of a finished step. */
export interface StepRecord {
  readonly job: string;
  readonly step: string;
  /** True if the model was told that the call may have run. */
  readonly unknown: boolean;
}

export interface Evidence {
  readonly plan: Plan;
  readonly jobs: readonly string[];
  /** By job: its answer, or how it ended otherwise. */
  readonly answers: ReadonlyMap<string, string>;
  readonly records: readonly StepRecord[];
  /** From outside of the database: what the model was asked, and what the tools have written down. */
  readonly asked: readonly Asked[];
  readonly executed: readonly Executed[];
  readonly kills: readonly Kill[];
}

export interface Verdict {
  /** The broken promises. */
  readonly problems: readonly string[];
  /** Replies and calls that are recorded. */
  readonly steps: number;
  /** Executions that a kill cut off before their step was recorded, so that another worker did it again. */
  readonly again: number;
  /** The same of workers that were alive and too busy to say so in time: they lost their runs, and recorded nothing more. */
  readonly silent: number;
  /** Calls that must not happen twice, were cut off by a kill, and were not run again. */
  readonly unknown: number;
}

interface Execution {
  readonly job: string;
  readonly step: string;
  readonly worker: string;
  readonly at: number;
}

/**
 * Compares what the database says with what the model and the tools have seen. Between the end of a step and its record a worker may
 * die, so no engine can promise that a step runs once. The promises are:
 *
 * 1. Every run ends with its answer, and each of its steps is recorded once.
 * 2. A finished step never runs again: once a later step of the run was seen, no earlier one is seen any more.
 * 3. A call that must not happen twice runs once, or at most once where its result says that it may have run.
 * 4. A reply that is asked for again is asked for with the same request.
 */
export function check(evidence: Evidence): Verdict {
  const executions = groupBy(executionsOf(evidence), ({ job }) => job);
  const records = groupBy(evidence.records, ({ job }) => job);
  const killed = new Map(evidence.kills.map(({ worker, at }) => [worker, at]));
  const problems = checkRequests(evidence.asked);
  const counts = { steps: 0, again: 0, silent: 0, unknown: 0 };
  for (const job of evidence.jobs) {
    const recorded = (records.get(job) ?? []).filter(({ step }) => !step.startsWith("start:"));
    const seen = executions.get(job) ?? [];
    const unknown = recorded.filter((record) => record.unknown);
    const steps = new Set(recorded.map(({ step }) => step));
    counts.steps += steps.size;
    const silent = countSilent(seen, killed);
    counts.silent += silent;
    counts.again += seen.length - new Set(seen.map(({ step }) => step)).size - silent;
    counts.unknown += unknown.length;
    const found = [
      ...checkEnd(evidence.answers.get(job), answerOf(job, unknown.length)),
      ...checkRecords(recorded, evidence.plan),
      ...checkOrder(seen, evidence.plan),
      ...checkCounts(seen, new Set(unknown.map(({ step }) => step)), evidence.plan),
    ];
    problems.push(...found.map((problem) => `${job}: ${problem}`));
  }
  return { problems, ...counts };
}

/** Oldest first. */
function executionsOf({ asked, executed }: Evidence): readonly Execution[] {
  const all = [
    ...asked.map(({ job, reply, worker, at }) => ({ job, step: `reply:${reply}`, worker, at })),
    ...executed.map(({ job, call, worker, at }) => ({ job, step: `call:${call}`, worker, at })),
  ];
  return all.sort((one, other) => one.at - other.at);
}

function checkEnd(answer: string | undefined, expected: string): readonly string[] {
  return answer === expected ? [] : [`ended with "${answer}" instead of "${expected}"`];
}

function checkRecords(recorded: readonly StepRecord[], plan: Plan): readonly string[] {
  const planned = stepsOf(plan).flat().sort().join(" ");
  const found = recorded.map(({ step }) => step).sort();
  return found.join(" ") === planned ? [] : [`the recorded steps are ${found.join(" ")}`];
}

function checkOrder(seen: readonly Execution[], plan: Plan): readonly string[] {
  const place = new Map(stepsOf(plan).flatMap((steps, index) => steps.map((step) => [step, index])));
  let furthest = 0;
  return seen.flatMap(({ step, worker }) => {
    const at = place.get(step) ?? 0;
    const isFinished = at < furthest;
    furthest = Math.max(furthest, at);
    return isFinished ? [`${step} ran in ${worker} when it was finished`] : [];
  });
}

/** Executions whose worker was not killed before the next one of the same step. */
function countSilent(seen: readonly Execution[], killed: ReadonlyMap<string, number>): number {
  return [...groupBy(seen, ({ step }) => step).values()].flatMap((times) =>
    times.slice(1).filter(({ at }, index) => (killed.get(times[index]?.worker ?? "") ?? Number.POSITIVE_INFINITY) > at),
  ).length;
}

function checkCounts(seen: readonly Execution[], unknown: ReadonlySet<string>, plan: Plan): readonly string[] {
  const once = new Set(
    plan
      .flatMap((_, index) => callsOf(plan, index + 1).filter(({ name }) => name === "charge"))
      .map(({ id }) => `call:${id}`),
  );
  return stepsOf(plan)
    .flat()
    .flatMap((step) => {
      const times = seen.filter((execution) => execution.step === step).length;
      const isRight = unknown.has(step) ? once.has(step) && times <= 1 : once.has(step) ? times === 1 : times >= 1;
      return isRight ? [] : [`${step} ran ${times} times${unknown.has(step) ? " and is said to be unknown" : ""}`];
    });
}

function checkRequests(asked: readonly Asked[]): string[] {
  const digests = new Map<string, string>();
  return asked.flatMap(({ job, reply, digest }) => {
    const key = `${job}: reply:${reply}`;
    const first = digests.get(key) ?? digest;
    digests.set(key, first);
    return first === digest ? [] : [`${key} was asked for again with another request`];
  });
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}
