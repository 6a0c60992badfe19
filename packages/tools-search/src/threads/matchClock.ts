import { readFileSync } from "node:fs";
import { clockSlots, threadIdStart } from "./protocol.ts";

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

/** Reads a worker's clock during one job, from the caller's thread. */
export interface ClockReader {
  /** Milliseconds of matching so far, and those of the stretch that is still going on. */
  read(): { spent: number; stretch: number };
}

/**
 * Where the system tells a thread's processor time (Linux), time in which the thread had to wait for a processor is not counted,
 * unless `isLowered()`: a thread of lower priority waits because of what it matches.
 */
export function createClockReader(control: SharedArrayBuffer, isLowered: () => boolean): ClockReader {
  const times = new Float64Array(control, 0, 4);
  const atStart = processorMs(control);
  let seenSince = 0;
  let seenAt = atStart;
  return {
    read() {
      const since = times[clockSlots.since] ?? 0;
      const elapsed = since === 0 ? 0 : Date.now() - since;
      const spent = (times[clockSlots.spent] ?? 0) + elapsed;
      const now = processorMs(control);
      if (since !== seenSince) {
        seenSince = since;
        seenAt = now;
      }
      if (now === undefined || atStart === undefined || seenAt === undefined || isLowered()) {
        return { spent, stretch: elapsed };
      }
      return { spent: Math.min(spent, now - atStart), stretch: Math.min(elapsed, now - seenAt) };
    },
  };
}

/** Milliseconds that the worker has been on a processor; undefined where the system does not tell. */
function processorMs(control: SharedArrayBuffer): number | undefined {
  const id = new Int32Array(control, threadIdStart, 1)[0] ?? 0;
  if (id === 0) return undefined;
  try {
    return Number(readFileSync(`/proc/self/task/${id}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return undefined;
  }
}
