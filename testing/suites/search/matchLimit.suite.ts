import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { expect, test } from "vitest";
import { createSearchTools } from "../../../packages/tools-search/src/index.ts";

test("an expression that backtracks without end ends after 5 s of matching where no limit is set", async () => {
  const cwd = temporaryFolder("search-limit");
  writeFileSync(join(cwd, "evil.txt"), `${"a".repeat(60)}!\n`);
  const registry = new ToolRegistry(createSearchTools({ cwd }));
  expect(await registry.execute("search_text", { query: "(a+)+$", regex: true, paths: ["."] })).toMatch(
    /^Error executing search_text: The search did not end: matching took longer than 5000 ms/,
  );
});
