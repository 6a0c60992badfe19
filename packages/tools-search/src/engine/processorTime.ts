import { readFileSync, readlinkSync } from "node:fs";
import { attempt } from "@toolcrib/core/internal";

/** Returns the system's id of the thread that calls; 0 where the system does not say (Linux does). */
export function systemThreadId(): number {
  return attempt(() => Number(readlinkSync("/proc/thread-self").split("/").pop()) || 0) ?? 0;
}

/** Milliseconds that a thread of this process has been on a processor; undefined where the system does not say. */
export function processorMs(systemId: number): number | undefined {
  if (systemId === 0) return undefined;
  const times = attempt(() => readFileSync(`/proc/self/task/${systemId}/schedstat`, "utf8"));
  // A kernel that does not measure answers 0.
  return Number(times?.split(" ")[0]) / 1e6 || undefined;
}
