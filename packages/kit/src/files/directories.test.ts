import { existsSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { ensureDirectory, namesIn, removeFlatFolder, removeIfPossible } from "./directories.ts";

let home: string;
beforeEach(() => {
  home = temporaryFolder("directories");
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

test("a folder of files goes, and what a link in it leads to stays", () => {
  writeIn(home, "kept/a", "a");
  writeIn(home, "own/b", "b");
  symlinkSync(join(home, "kept"), join(home, "own/link"));
  removeFlatFolder(join(home, "own"));
  expect(readdirSync(home)).toEqual(["kept"]);
  expect(readdirSync(join(home, "kept"))).toEqual(["a"]);
});

test("a folder that holds another one stays, with that one", () => {
  writeIn(home, "own/deep/a", "a");
  removeFlatFolder(join(home, "own"));
  expect(existsSync(join(home, "own/deep/a"))).toBe(true);
});

test("what is not there is no error", () => {
  const missing = join(home, "missing");
  expect(namesIn(missing)).toEqual([]);
  removeIfPossible(missing);
  removeFlatFolder(missing);
});
