import { readFileSync } from "node:fs";
import { attempt } from "@toolcrib/core/internal";

/** Returns where something is mounted, as far as this process sees; none elsewhere than on Linux. */
export function mountPoints(): string[] {
  const table = process.platform === "linux" ? attempt(() => readFileSync("/proc/self/mountinfo", "utf8")) : undefined;
  return (table ?? "").split("\n").flatMap((line) => {
    const point = line.split(" ")[4];
    const octal = (_: string, digits: string): string => String.fromCharCode(Number.parseInt(digits, 8));
    // Bytes of UTF-8 stand there as they are.
    return point === undefined ? [] : [point.replace(/\\(\d{3})/g, octal)];
  });
}

/** Returns whether a canonical path is itself a mount, as a single file that was mounted into a container. */
export function isMountPoint(path: string): boolean {
  return mountPoints().includes(path);
}
