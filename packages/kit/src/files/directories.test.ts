import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { ensureDirectory } from "./directories.ts";

let home: string;
beforeEach(() => {
  home = temporaryFolder("ensure");
});

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
