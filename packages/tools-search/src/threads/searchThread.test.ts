import { expect, test } from "vitest";
import { BatchQueue } from "../engine/batchQueue.ts";
import type { TakerJob } from "../engine/job.ts";
import { startSearchThread } from "./searchThread.ts";

const { memory } = new BatchQueue();
const job: TakerJob = {
  job: {
    starts: [],
    query: { text: "x", regex: false, caseSensitive: true },
    globs: undefined,
    mode: "lines",
    context: 0,
    limit: 1,
    maxBytes: 1000,
    roots: undefined,
  },
  queue: memory,
  left: [],
  walk: { start: 0, after: "", order: 0, seen: undefined },
};
const nothing = (): void => undefined;

/** Keeps this thread from its events, as a busy machine does. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test("an ended thread is not reported as ready when its last message arrives late", async () => {
  const events: string[] = [];
  const thread = startSearchThread(nothing, () => events.push("ended"));
  await new Promise<void>((resolve) => {
    thread.start(job, (message) => message.kind === "done" && resolve(), nothing);
  });
  thread.start(job, nothing, nothing);
  thread.stop(() => events.push("ready"));
  // The thread's word that it is done waits behind the end.
  block(300);
  thread.end();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(events).toEqual(["ended"]);
});

test("a job given to an ended thread ends at once with the reason", () => {
  const thread = startSearchThread(nothing, nothing);
  thread.end();
  const reasons: string[] = [];
  thread.start(job, nothing, (reason) => reasons.push(String(reason)));
  expect(reasons).toEqual(["Error: the search thread ended"]);
});
