import { existsSync, linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Makes a folder for a test, in memory where there is such a place: thousands of files are slow to make. */
export function memoryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "policy-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes a folder with more names than are looked through for a decision. */
export function largeFolder(folder: string = memoryFolder()): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "0"), "");
  for (let at = 1; at < 5001; at += 1) linkSync(join(folder, "0"), join(folder, String(at)));
  return folder;
}
