import { processorMs } from "@toolcrib/core/files";
import type { ControlBlock } from "./controlBlock.ts";

/** Counts the time that a worker spends matching a caller's pattern. */
export interface MatchClock {
  run(): void;
  pause(): void;
  /** Does work that is not matching, such as reading a directory, with a running clock paused. */
  without<Result>(work: () => Result): Result;
}

/** The worker's side: counts in `control`. `now` returns milliseconds, never 0. */
export function createMatchClock(control: ControlBlock, now: () => number = Date.now): MatchClock {
  const run = (): void => {
    control.since = now();
  };
  const pause = (): void => {
    const { since } = control;
    if (since === 0) return;
    control.since = 0;
    control.spent += now() - since;
  };
  return {
    run,
    pause,
    without(work) {
      if (control.since === 0) return work();
      pause();
      try {
        return work();
      } finally {
        run();
      }
    },
  };
}

/** Milliseconds of matching so far, and those of the current stretch. */
export type ReadMatchClock = () => { spent: number; stretch: number };

/** What time it is, and how long a thread has been on a processor (undefined where the system does not say), in milliseconds. */
export interface TimeSource {
  now(): number;
  processorMs(threadId: number): number | undefined;
}

const systemTime: TimeSource = { now: Date.now, processorMs };

/**
 * The caller's side, for one job. Where the system tells a thread's processor time (Linux), time in which the thread waited for a
 * processor is not counted, unless `isLowered()`: a thread of lower priority waits because of its own pattern.
 */
export function createClockReader(
  control: ControlBlock,
  isLowered: () => boolean,
  time: TimeSource = systemTime,
): ReadMatchClock {
  const atStart = time.processorMs(control.threadId);
  let seenSince = 0;
  let seenAt = atStart;
  return () => {
    const { since } = control;
    const elapsed = since === 0 ? 0 : time.now() - since;
    const spent = control.spent + elapsed;
    const onProcessor = time.processorMs(control.threadId);
    if (since !== seenSince) {
      seenSince = since;
      seenAt = onProcessor;
    }
    if (onProcessor === undefined || atStart === undefined || seenAt === undefined || isLowered()) {
      return { spent, stretch: elapsed };
    }
    return { spent: Math.min(spent, onProcessor - atStart), stretch: Math.min(elapsed, onProcessor - seenAt) };
  };
}
