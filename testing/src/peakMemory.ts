import { readFileSync } from "node:fs";

/**
 * Most memory that this process has held, in MB. On Linux `resourceUsage().maxRSS` of a process begins with the peak of the one that
 * started it (https://man7.org/linux/man-pages/man2/getrusage.2.html), so that a large parent is taken for a large child. That is the
 * answer only where /proc cannot be read, as under Node's permission model or where faults are injected.
 */
export function peakMb(): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1]) / 1024;
  } catch {
    return process.resourceUsage().maxRSS / 1024;
  }
}
