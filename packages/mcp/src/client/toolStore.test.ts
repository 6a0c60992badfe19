import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
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
