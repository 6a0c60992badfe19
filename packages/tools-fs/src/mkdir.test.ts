import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { createMkdirTool } from "./mkdir.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("mkdir");
});

const mkdir = (path: string): Promise<string> =>
  createMkdirTool({ cwd: base, root: base }).execute({ path }).then(String);

test("creates a directory with its parents; one that exists is success", async () => {
  expect(await mkdir("a/b/c/")).toBe("Created directory a/b/c");
  expect(statSync(join(base, "a/b/c")).isDirectory()).toBe(true);
  expect(await mkdir("a/b")).toBe("Directory already exists: a/b");
  expect(await mkdir(".")).toBe("Directory already exists: .");
});

test("a file in the way is an error, and no directory is left behind", async () => {
  writeFileSync(join(base, "file"), "");
  await expect(mkdir("file")).rejects.toThrow(/file \(ENOTDIR\)/);
  await expect(mkdir("file/below")).rejects.toThrow(/\(ENOTDIR\)/);
  await expect(mkdir(`new/${"x".repeat(300)}`)).rejects.toThrow(/ENAMETOOLONG/);
  expect(readdirSync(base)).toEqual(["file"]);
});

test("many calls for overlapping paths at once all succeed", async () => {
  const paths = Array.from({ length: 60 }, (_, index) => `a/${index % 3}/b/${index % 7}`);
  await Promise.all(paths.map((path) => mkdir(path)));
  expect(readdirSync(join(base, "a/2/b"))).toHaveLength(7);
});
