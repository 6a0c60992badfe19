import { expect, test } from "vitest";
import { check, type Evidence } from "./check.ts";
import { answerOf, callsOf, plans, stepsOf } from "./plan.ts";

const plan = plans.short;
const job = "job-1";
const steps = stepsOf(plan).flat();

/** Evidence of a run in worker A that nobody disturbed. */
function evidence(): Evidence & { [K in "asked" | "executed" | "kills" | "records"]: Evidence[K][number][] } {
  let at = 0;
  const next = (): number => {
    at += 10;
    return at;
  };
  const seen = plan.map((_, index) => ({
    asked: { job, reply: index + 1, worker: "A", at: next(), digest: `d${index}` },
    executed: callsOf(plan, index + 1).map((call) => ({
      job,
      call: call.id,
      tool: call.name,
      worker: "A",
      at: next(),
    })),
  }));
  return {
    plan,
    jobs: [job],
    answers: new Map([[job, answerOf(job, 0)]]),
    records: [...steps, "start:call_3_1"].map((step) => ({ job, step, unknown: false })),
    asked: seen.map((one) => one.asked),
    executed: seen.flatMap((one) => one.executed),
    kills: [],
  };
}

const charge = { job, call: "call_3_1", tool: "charge", worker: "B" } as const;

test("a run that nobody disturbed keeps every promise", () => {
  expect(check(evidence())).toEqual({ problems: [], steps: 8, again: 0, silent: 0, unknown: 0 });
});

test("a step that was cut off may run again: by a kill, or because its worker was taken for dead", () => {
  const given = evidence();
  given.asked.push({ job, reply: 4, worker: "B", at: 500, digest: "d3" });
  expect(check(given)).toEqual({ problems: [], steps: 8, again: 0, silent: 1, unknown: 0 });
  given.kills.push({ worker: "A", at: 90 });
  expect(check(given)).toEqual({ problems: [], steps: 8, again: 1, silent: 0, unknown: 0 });
});

test("a call that must not run twice may be unknown, whether it ran or not", () => {
  const given = evidence();
  Object.assign(given, {
    answers: new Map([[job, answerOf(job, 1)]]),
    records: given.records.map((record) => ({ ...record, unknown: record.step === "call:call_3_1" })),
  });
  expect(check(given)).toMatchObject({ problems: [], unknown: 1 });
  given.executed.pop();
  expect(check(given)).toMatchObject({ problems: [], unknown: 1 });
});

test.each<[what: string, spoil: (given: ReturnType<typeof evidence>) => void, problem: string]>([
  ["a lost record", (given) => void given.records.shift(), "the recorded steps are"],
  [
    "a step with two records",
    (given) => void given.records.push({ job, step: "reply:1", unknown: false }),
    "recorded steps",
  ],
  [
    "a finished step that ran again, though its worker was killed",
    (given) => {
      given.kills.push({ worker: "A", at: 25 });
      given.asked.push({ job, reply: 1, worker: "B", at: 500, digest: "d0" });
    },
    "reply:1 ran in B when it was finished",
  ],
  [
    "a call that happened twice",
    (given) => {
      given.kills.push({ worker: "A", at: 75 });
      given.executed.push({ ...charge, at: 76 });
    },
    "call:call_3_1 ran 2 times",
  ],
  ["a call that never ran", (given) => void given.executed.pop(), "call:call_3_1 ran 0 times"],
  [
    "a reply that was asked for with another request",
    (given) => {
      given.kills.push({ worker: "A", at: 90 });
      given.asked.push({ job, reply: 4, worker: "B", at: 500, digest: "other" });
    },
    "reply:4 was asked for again with another request",
  ],
  [
    "a run that failed",
    (given) => void (given.answers as Map<string, string>).set(job, "failed"),
    'ended with "failed"',
  ],
])("the check finds %s", (_, spoil, problem) => {
  const given = evidence();
  spoil(given);
  expect(check(given).problems).toEqual([expect.stringContaining(problem)]);
});
