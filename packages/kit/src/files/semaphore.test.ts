import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createSemaphore } from "./semaphore.ts";

test("at most the limit run at once, in order, and a failure frees its place", async () => {
  const semaphore = createSemaphore(3);
  let running = 0;
  let most = 0;
  const order: number[] = [];
  const results = await Promise.allSettled(
    Array.from({ length: 40 }, (_, index) =>
      semaphore(async () => {
        order.push(index);
        running += 1;
        most = Math.max(most, running);
        await sleep(1);
        running -= 1;
        if (index % 5 === 0) throw new Error("one fails");
      }),
    ),
  );
  expect(most).toBe(3);
  expect(order).toEqual(Array.from({ length: 40 }, (_, index) => index));
  expect(results.filter(({ status }) => status === "rejected")).toHaveLength(8);
});
