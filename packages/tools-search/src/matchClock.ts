import { clockSlots } from "./protocol.ts";

/** Counts the time that a worker spends in a caller's pattern, where the caller's thread can read it. */
export interface MatchClock {
  reset(): void;
  run(): void;
  pause(): void;
  /** Does what is not matching (reading a directory, say) with a running clock paused. */
  without<Result>(work: () => Result): Result;
}

export function createMatchClock(control: SharedArrayBuffer): MatchClock {
  const times = new Float64Array(control, 0, 4);
  const run = (): void => {
    times[clockSlots.since] = Date.now();
  };
  const pause = (): void => {
    const since = times[clockSlots.since] ?? 0;
    if (since === 0) return;
    times[clockSlots.since] = 0;
    times[clockSlots.spent] = (times[clockSlots.spent] ?? 0) + Date.now() - since;
  };
  return {
    run,
    pause,
    reset() {
      times[clockSlots.spent] = 0;
      times[clockSlots.since] = 0;
    },
    without(work) {
      if (times[clockSlots.since] === 0) return work();
      pause();
      const result = work();
      run();
      return result;
    },
  };
}

/** Milliseconds spent so far, and those of the stretch that is still going on; read from any thread. */
export function readMatchClock(control: SharedArrayBuffer): { spent: number; stretch: number } {
  const times = new Float64Array(control, 0, 4);
  const since = times[clockSlots.since] ?? 0;
  const stretch = since === 0 ? 0 : Date.now() - since;
  return { spent: (times[clockSlots.spent] ?? 0) + stretch, stretch };
}
