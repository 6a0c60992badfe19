import { beforeEach, describe, expect, test, vi } from "vitest";
import { ControlBlock, createClockReader } from "../engine/controlBlock.ts";

/** The clocks, moved by the tests. */
let now: number;
let onProcessor: number | undefined;
const time = { now: () => now, processorMs: () => onProcessor };
/** Lets time pass while the thread works. */
function work(ms: number): void {
  now += ms;
  if (onProcessor !== undefined) onProcessor += ms;
}

let control: ControlBlock;
beforeEach(() => {
  now = 1000;
  onProcessor = undefined;
  control = new ControlBlock(undefined, time.now);
});
const reader = (isLowered = () => false) => createClockReader(control, isLowered, time);

test("only time between run and pause is counted", () => {
  const read = reader();
  work(5);
  control.run();
  work(10);
  expect(read()).toEqual({ spent: 10, stretch: 10 });
  control.pause();
  work(100);
  control.run();
  work(3);
  expect(read()).toEqual({ spent: 13, stretch: 3 });
  control.pause();
  control.pause();
  expect(read()).toEqual({ spent: 13, stretch: 0 });
});

describe("time in which the thread waits for a processor", () => {
  /** Matches for 20 ms, then waits for 5 s; the clock is also read at the start, as it is by every poll. */
  const waiting = (isLowered: boolean) => {
    onProcessor = 50;
    const read = reader(() => isLowered);
    control.run();
    read();
    work(20);
    now += 5000;
    return read();
  };

  test("is not counted", () => {
    expect(waiting(false)).toEqual({ spent: 20, stretch: 20 });
  });

  test("is counted once the thread's priority is lowered", () => {
    expect(waiting(true)).toEqual({ spent: 5020, stretch: 5020 });
  });
});

test("a job starts with a clock at zero", () => {
  control.run();
  work(9);
  control.reset();
  expect(reader()()).toEqual({ spent: 0, stretch: 0 });
});

test("a clock that stands still while the engine is loaded does not stop it", async () => {
  vi.resetModules();
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
  const engine = await import("../engine/controlBlock.ts");
  vi.useRealTimers();
  const control = new engine.ControlBlock();
  control.run();
  const readClock = engine.createClockReader(control, () => true);
  await vi.waitFor(() => expect(readClock().spent).toBeGreaterThan(0));
});
