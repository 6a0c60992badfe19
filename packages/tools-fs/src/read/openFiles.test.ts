import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExecutableTool } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { createFsTools } from "../fileSystem.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("open");
  mkdirSync(join(base, "sub"));
  for (let index = 0; index < 12; index += 1) writeFileSync(join(base, `${index}`), "old\n");
  writeFileSync(join(base, "large"), "line\n".repeat(300_000));
});

function openBelowBase(): number {
  return readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(base);
    } catch {
      return false;
    }
  }).length;
}

test.runIf(process.platform === "linux").each<[string, number, (index: number) => Record<string, unknown>]>([
  ["read_file", 1, () => ({ path: "large", offset: 299_999 })],
  // The directory and the temporary file.
  ["write_file", 2, (index) => ({ path: `${index}`, content: "new" })],
  ["edit_file", 2, (index) => ({ path: `${index}`, edits: [{ old_text: "old", new_text: "new" }] })],
  ["list_dir", 2, () => ({ path: "." })],
])("however many calls of %s run, a few files are open", async (name, each, args) => {
  const tool = createFsTools({ cwd: base }).find((one) => one.name === name) as ExecutableTool;
  let most = 0;
  let running = true;
  const look = (): void => {
    most = Math.max(most, openBelowBase());
    if (running) setImmediate(look);
  };
  look();
  await Promise.all(Array.from({ length: 12 }, (_, index) => tool.execute(args(index))));
  running = false;
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(4 * each);
});
