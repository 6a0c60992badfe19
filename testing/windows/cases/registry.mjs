// What the registry promises of one call: the part of `test:runtimes` about it, here too.
import assert from "node:assert/strict";
import { createDefaultToolRegistry } from "@toolcrib/defaults";
import { registry } from "../../runtimes/program/registry.mjs";
import { newFolder, runTests, test } from "../harness.mjs";

registry({ test });

test("the ten default tools have their names, in their order", () => {
  const names =
    "read_file write_file list_dir mkdir remove move search_text search_files run_bash save_session_context";
  const tools = createDefaultToolRegistry(undefined, { root: newFolder() });
  assert.deepEqual([...tools.getToolNames()].sort(), names.split(" ").sort());
});

await runTests();
