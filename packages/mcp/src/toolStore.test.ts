import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fileToolStore } from "./toolStore.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolcrib-store-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("what is saved is loaded again, by another store too, whatever the server is called", async () => {
  const file = join(folder, "tools.json");
  const known = { config: "c", tools: [{ name: "t", description: "d", inputSchema: { type: "object" } }] };
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

test("saving where nothing can be written rejects, and the next save is tried", async () => {
  await writeFile(join(folder, "file"), "");
  const store = fileToolStore(join(folder, "file", "tools.json"));
  const known = { config: "c", tools: [] };
  await expect(store.save("a", known)).rejects.toThrow();
  await rm(join(folder, "file"));
  await store.save("a", known);
  expect(await store.load("a")).toEqual(known);
});
