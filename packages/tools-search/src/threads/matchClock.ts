import { processorMs } from "@toolcrib/kit/threads";
import type { ControlBlock } from "../engine/controlBlock.ts";

/** Milliseconds of matching so far, and those of the current stretch. */
export type ReadMatchClock = () => { spent: number; stretch: number };

/** The time, and the processor time of a thread (undefined if the system does not say it), in milliseconds. */
export interface TimeSource {
  now(): number;
  processorMs(threadId: number): number | undefined;
}

const systemTime: TimeSource = { now: Date.now, processorMs };

/**
 * Reads the clock of a thread for one job. Where the system tells a thread's processor time (Linux), time in which the thread waited for a
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
