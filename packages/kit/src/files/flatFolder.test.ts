import { existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { namesIn, removeFlatFolder, removeIfPossible } from "./directories.ts";

let folder = "";
beforeEach(() => {
  folder = temporaryFolder("flat");
});

test("a folder of files goes, and what a link in it leads to stays", () => {
  writeIn(folder, "kept/a", "a");
  writeIn(folder, "own/b", "b");
  symlinkSync(join(folder, "kept"), join(folder, "own/link"));
  removeFlatFolder(join(folder, "own"));
  expect(readdirSync(folder)).toEqual(["kept"]);
  expect(readdirSync(join(folder, "kept"))).toEqual(["a"]);
});

test("a folder that holds another one stays, with that one", () => {
  writeIn(folder, "own/deep/a", "a");
  removeFlatFolder(join(folder, "own"));
  expect(existsSync(join(folder, "own/deep/a"))).toBe(true);
});

test("what is not there is no error", () => {
  const missing = join(folder, "missing");
  expect(namesIn(missing)).toEqual([]);
  removeIfPossible(missing);
  removeFlatFolder(missing);
});
