import { beforeEach, describe, expect, test } from "vitest";
import { ControlBlock } from "./controlBlock.ts";
import { createClockReader, createMatchClock } from "./matchClock.ts";

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
  control = new ControlBlock();
});
const clock = () => createMatchClock(control, time.now);
const reader = (isLowered = () => false) => createClockReader(control, isLowered, time);

test("only time between run and pause is counted", () => {
  const { run, pause } = clock();
  const read = reader();
  work(5);
  run();
  work(10);
  expect(read()).toEqual({ spent: 10, stretch: 10 });
  pause();
  work(100);
  run();
  work(3);
  expect(read()).toEqual({ spent: 13, stretch: 3 });
  pause();
  pause();
  expect(read()).toEqual({ spent: 13, stretch: 0 });
});

describe("work that is not matching", () => {
  test("is not counted, and the clock continues after it", () => {
    const { run, without } = clock();
    const read = reader();
    run();
    work(2);
    expect(
      without(() => {
        work(500);
        return "done";
      }),
    ).toBe("done");
    work(3);
    expect(read()).toEqual({ spent: 5, stretch: 3 });
  });

  test("continues the clock when it fails", () => {
    const { run, without } = clock();
    const read = reader();
    run();
    expect(() =>
      without(() => {
        throw new Error("unreadable");
      }),
    ).toThrow("unreadable");
    work(7);
    expect(read()).toEqual({ spent: 7, stretch: 7 });
  });

  test("does not start a clock that is paused", () => {
    const { without } = clock();
    const read = reader();
    without(() => work(4));
    work(4);
    expect(read()).toEqual({ spent: 0, stretch: 0 });
  });
});

describe("time in which the thread waits for a processor", () => {
  /** Matches for 20 ms, then waits for 5 s; the clock is also read at the start, as it is by every poll. */
  const waiting = (isLowered: boolean) => {
    onProcessor = 50;
    const read = reader(() => isLowered);
    clock().run();
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
  const { run } = clock();
  run();
  work(9);
  control.reset();
  expect(reader()()).toEqual({ spent: 0, stretch: 0 });
});
