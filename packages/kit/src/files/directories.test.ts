import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ensureDirectory } from "./directories.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ensure-"));
});
afterEach(() => rmSync(home, { recursive: true }));

test("makes missing parents, with the mode asked for; an existing directory is success", () => {
  ensureDirectory(join(home, "a/b/c"), 0o700);
  ensureDirectory(join(home, "a/b/c"));
  expect(statSync(join(home, "a/b/c")).mode & 0o777).toBe(0o700);
});

test("a file in the way is the system's error", () => {
  writeFileSync(join(home, "file"), "");
  expect(() => ensureDirectory(join(home, "file/x"))).toThrow(/EEXIST/);
  expect(() => ensureDirectory(join(home, "file"))).toThrow(/EEXIST/);
});

test.runIf(process.platform === "linux")(
  "ends with an error where nothing can be made: Node's recursive mkdir would spin",
  () => {
    expect(() => ensureDirectory("/proc/none/deeper")).toThrow(/ENOENT/);
  },
);
