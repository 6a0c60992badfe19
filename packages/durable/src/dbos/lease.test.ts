import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Database } from "./database.ts";
import { Lease } from "./lease.ts";

const leaseMs = 900;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("after an outage a worker gives the others a whole lease before it looks for dead ones", async () => {
  let isAway = false;
  let beats = 0;
  let looks = 0;
  const query = async () => {
    if (isAway) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    beats += 1;
    return { rowCount: 1, rows: [] };
  };
  const database = { schema: "s", pool: { query }, transaction: async () => {} } as unknown as Database;
  const lease = new Lease(database, {
    ...{ worker: "a", agents: [], leaseMs },
    onLost: () => expect.unreachable(),
    onBeat: async (isSteady) => {
      if (isSteady) looks += 1;
    },
    onWarning: (message) => expect.unreachable(message),
  });
  await lease.begin("1");
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(looks).toBe(3);
  isAway = true;
  await vi.advanceTimersByTimeAsync(3 * leaseMs);
  isAway = false;
  [beats, looks] = [0, 0];
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect([beats, looks]).toEqual([3, 0]);
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(looks).toBeGreaterThan(0);
  await lease.end();
});
