// Searches: plain, by expression, by glob, with one that never ends.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { createSearchTools } from "@toolcrib/tools-search";

export function search({ test, folder }) {
  mkdirSync(join(folder, "src/deep"), { recursive: true });
  for (let index = 0; index < 300; index += 1)
    writeFileSync(join(folder, `src/deep/${index}.txt`), `line\nn ${index}\n`);
  writeFileSync(join(folder, "src/a.ts"), "const needle = 1;\nΣ needles\n");
  writeFileSync(join(folder, ".gitignore"), "ignored.txt\n");
  writeFileSync(join(folder, "ignored.txt"), "needle\n");
  writeFileSync(join(folder, "evil.txt"), `${"a".repeat(60)}!\n`);
  const options = { root: folder };
  const validArgs = {
    search_text: () => ({ query: "needle", paths: ["."] }),
    search_files: () => ({ pattern: "**/*.ts" }),
  };
  for (const { name } of createSearchTools(options)) {
    const create = () => createSearchTools(options).find((tool) => tool.name === name);
    testTool((words, run) => test(`${name}: ${words}`, run), { create, validArgs: validArgs[name] });
  }
  const tools = new ToolRegistry(createSearchTools(options));
  const call = (name, args) => tools.execute(name, args);

  test("find lines, files and counts, and honour .gitignore", async () => {
    const found = "src/a.ts:1:const needle = 1;\nsrc/a.ts:2:Σ needles";
    assert.equal(await call("search_text", { query: "needle", paths: ["."] }), found);
    assert.equal(await call("search_text", { query: "ne+dles?", regex: true, paths: ["."] }), found);
    assert.equal(await call("search_files", { pattern: "**/*.{ts,md}" }), "src/a.ts");
    assert.match(
      await call("search_text", { query: "n 29", paths: ["src"], mode: "count" }),
      /^(?:src\/deep\/29\d?\.txt:1\n?){11}$/,
    );
    assert.match(await call("search_text", { query: "absent", paths: ["."] }), /^No matches/);
  });

  test("search side by side, and end an expression that never ends", async () => {
    // Bun's engine gives such an expression up by itself, after half a second where nothing else runs.
    const limited = new ToolRegistry(createSearchTools({ ...options, matchLimitMs: 200 }));
    const plain = () => call("search_text", { query: "σ NEEDLES", case_sensitive: false, paths: ["."] });
    const [evil, ...others] = await Promise.all([
      limited.execute("search_text", { query: "(a+)+$", regex: true, paths: ["."] }),
      ...Array.from({ length: 5 }, plain),
    ]);
    assert.match(evil, /did not end: matching took longer than 200 ms/);
    for (const other of others) assert.equal(other, "src/a.ts:2:Σ needles");
  });
}
