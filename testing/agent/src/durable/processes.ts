import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Linux counts processor time in hundredths of a second. */
const tickMs = 10;

/** Processor time of a process that runs, with that of its children that have ended. */
export function cpuMs(pid: number): number | undefined {
  const fields = statOf(pid);
  return fields && fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * tickMs;
}

/** The same with the children that still run. */
export function treeCpuMs(pid: number): number {
  const children = existsSync(`/proc/${pid}/task`)
    ? readdirSync("/proc").filter((name) => /^\d+$/.test(name) && statOf(Number(name))?.[1] === String(pid))
    : [];
  return [pid, ...children.map(Number)].reduce((sum, each) => sum + (cpuMs(each) ?? 0), 0);
}

/** The most memory that a process has had. */
export function peakMegabytes(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** The fields after the program's name in `/proc/PID/stat`: state, parent, … */
function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}
