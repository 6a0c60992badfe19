import { describe, expect, test, vi } from "vitest";
import { type Batch, BatchQueue } from "./batchQueue.ts";

const batch = (order: number): Batch => ({ order, start: 0, paths: [`file${order}`, "an ü\ud800"] });
/** As another thread has it. */
const shared = (queue: BatchQueue): BatchQueue => new BatchQueue(queue.memory);

describe("the queue of a search", () => {
  test("gives batches in the order in which they were added, to any taker, each once", () => {
    const queue = new BatchQueue();
    const takers = [queue, shared(queue), shared(queue)];
    for (let order = 0; order < 100; order += 1) {
      expect(queue.add(batch(2 * order))).toBe(true);
      expect(takers[order % 3]?.take()).toEqual(batch(2 * order));
    }
    expect(takers.map((taker) => taker.take())).toEqual([undefined, undefined, undefined]);
  });

  test("holds so many that the walk is ahead, but not far, and takes no more", () => {
    const queue = new BatchQueue();
    queue.add(batch(0));
    expect(queue.wantsMore).toBe(false);
    queue.take();
    expect(queue.wantsMore).toBe(true);
    let added = 0;
    while (queue.add(batch(added + 2))) added += 1;
    expect(added).toBe(16);
    queue.take();
    expect(queue.add(batch(100))).toBe(true);
  });

  test("gives nothing more once enough was found, but for what was left of an earlier batch", () => {
    const queue = new BatchQueue();
    for (const order of [0, 2, 4]) queue.add(batch(order));
    expect(queue.take()?.order).toBe(0);
    queue.add(batch(1));
    expect(queue.count(3, 100, { limit: 4, maxBytes: 1000 })).toBe(false);
    expect(queue.stopped).toBe(false);
    expect(queue.count(1, 100, { limit: 4, maxBytes: 1000 })).toBe(true);
    queue.stop();
    expect(queue.stopped).toBe(true);
    expect(queue.isEmptied).toBe(false);
    expect(shared(queue).take()?.order).toBe(1);
    expect(queue.take()).toBe(undefined);
    expect(queue.isEmptied).toBe(true);
  });

  test("gives a batch that was taken before enough was found behind it", () => {
    const queue = new BatchQueue();
    for (const order of [0, 2, 4]) queue.add(batch(order));
    const { compareExchange } = Atomics;
    // Another taker finds enough while this one has taken its batch and not yet read it.
    const spy = vi
      .spyOn(Atomics, "compareExchange")
      .mockImplementation((...args: Parameters<typeof compareExchange>) => {
        const before = compareExchange(...args);
        spy.mockRestore();
        shared(queue).take();
        shared(queue).stop();
        return before;
      });
    expect(queue.take()?.order).toBe(0);
    expect(queue.take()).toBe(undefined);
  });

  test("is emptied when the walk is over and all is taken", () => {
    const queue = new BatchQueue();
    queue.add(batch(0));
    queue.end();
    expect(queue.isEmptied).toBe(false);
    queue.take();
    expect(shared(queue).isEmptied).toBe(true);
  });
});

test("what the caller's thread leaves never takes the slot that the walk has asked for", () => {
  const queue = new BatchQueue();
  const batch = (order: number) => ({ order, start: 0, paths: ["a"] });
  let left = 0;
  while (queue.add(batch(1), 1)) left += 1;
  expect(left).toBeGreaterThan(1);
  // The thread that walks is the only one that takes these: it would wait for itself.
  expect(queue.take(true)).toBeUndefined();
  expect(queue.add(batch(1024))).toBe(true);
  expect(queue.take()).toMatchObject({ order: 1 });
});
