import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fileToolStore } from "./toolStore.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolcrib-store-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("what is saved is loaded again, also by another store, for any name of a server", async () => {
  const file = join(folder, "tools.json");
  for (const server of ["a", "__proto__", "constructor"]) await fileToolStore(file).save(server, known);
  for (const server of ["a", "__proto__", "constructor"]) expect(await fileToolStore(file).load(server)).toEqual(known);
  expect(await fileToolStore(file).load("toString")).toBeUndefined();
  expect(await readdir(folder)).toEqual(["tools.json"]);
});

test.each(["", "{", "[]", '{"servers":[]}', '{"servers":{"a":7}}', '{"servers":{"a":{"config":"c","tools":{}}}}'])(
  "a file that holds %j counts as empty and is replaced",
  async (text) => {
    const file = join(folder, "tools.json");
    await writeFile(file, text);
    const store = fileToolStore(file);
    expect(await store.load("a")).toBeUndefined();
    await store.save("a", { config: "c", tools: [] });
    expect(await store.load("a")).toEqual({ config: "c", tools: [] });
  },
);

const known = { config: "c", tools: [{ name: "t", description: "d", inputSchema: { type: "object" } }] };

test("stores that save at once keep each other's servers", async () => {
  const file = join(folder, "tools.json");
  const saves = ["a", "b", "c"].flatMap((name) => {
    const store = fileToolStore(file);
    return Array.from({ length: 25 }, (_, n) => store.save(name + n, { config: "c", tools: [] }));
  });
  await Promise.all(saves);
  expect(Object.keys(JSON.parse(await readFile(file, "utf8")).servers)).toHaveLength(75);
  expect(await readdir(folder)).toEqual(["tools.json"]);
});

test("the file and the folders made for it are readable by the user only", async () => {
  const file = join(folder, "a", "b", "tools.json");
  await fileToolStore(file).save("s", known);
  for (const path of [file, join(folder, "a", "b"), join(folder, "a")]) {
    expect((await stat(path)).mode & 0o077, path).toBe(0);
  }
});

test("a link in place of the file is neither read nor written through", async () => {
  const target = join(folder, "target.json");
  const file = join(folder, "tools.json");
  await fileToolStore(target).save("s", known);
  await symlink(target, file);
  const before = await readFile(target, "utf8");
  await expect(fileToolStore(file).load("s")).rejects.toThrow("it is a link");
  await expect(fileToolStore(file).save("s", { config: "c", tools: [] })).rejects.toThrow("it is a link");
  expect(await readFile(target, "utf8")).toBe(before);
});

test("a file that others can write, or that is not a regular file, is not trusted", async () => {
  const file = join(folder, "tools.json");
  await fileToolStore(file).save("s", known);
  await chmod(file, 0o666);
  await expect(fileToolStore(file).load("s")).rejects.toThrow("others can write it");
  await rm(file);
  execFileSync("mkfifo", [file]);
  await expect(fileToolStore(file).load("s")).rejects.toThrow("it is not a regular file");
});

test("nothing is saved below the working folder, also not through a link into it", async () => {
  const cwd = process.cwd();
  const [work, link] = [join(folder, "work"), join(folder, "link")];
  await mkdir(work);
  await symlink(work, link);
  process.chdir(work);
  try {
    for (const path of [
      "tools.json",
      "deep/er/tools.json",
      join(work, "tools.json"),
      join(link, "deep", "tools.json"),
    ]) {
      expect(() => fileToolStore(path), path).toThrow(/below the working folder/);
    }
    fileToolStore(join(folder, "tools.json"));
    fileToolStore(join(folder, "work2", "tools.json"));
  } finally {
    process.chdir(cwd);
  }
});

test("saving where nothing can be written rejects, and the next save is tried", async () => {
  await writeFile(join(folder, "file"), "");
  const store = fileToolStore(join(folder, "file", "tools.json"));
  await expect(store.save("a", known)).rejects.toThrow();
  await rm(join(folder, "file"));
  await store.save("a", known);
  expect(await store.load("a")).toEqual(known);
});
