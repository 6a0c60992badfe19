// What the registry promises of one call: arguments, guards, middleware, limits and aborts, and the formats of the model APIs.
import assert from "node:assert/strict";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { createDefaultToolRegistry } from "@toolcrib/defaults";
import { newFolder, runTests, test } from "../harness.mjs";

const never = () => new Promise(() => {});
const made = (execute, more = {}) =>
  defineTool({
    name: "tried",
    description: "Is tried.",
    parameters: {
      type: "object",
      properties: { count: { type: "integer" } },
      required: ["count"],
      additionalProperties: false,
    },
    execute,
    ...more,
  });

test("arguments are checked and repaired, and a thrown error is told in words", async () => {
  const registry = new ToolRegistry([made(({ count }) => `${count + 1}`)]);
  assert.equal(await registry.execute("tried", { count: 1 }), "2");
  assert.equal(await registry.execute("tried", { count: "1" }), "2");
  assert.match(await registry.execute("tried", { other: 1 }), /^Error executing tried: Invalid arguments: /);
  assert.match(await registry.execute("missing", {}), /^Tool not found: missing/);
  const failing = new ToolRegistry([
    made(() => {
      throw new Error("broken");
    }),
  ]);
  assert.equal(await failing.execute("tried", { count: 1 }), "Error executing tried: broken");
});

test("a limit and an abort end a call that does not answer", async () => {
  const registry = new ToolRegistry([made(never)]);
  assert.match(await registry.execute("tried", { count: 1 }, { timeoutMs: 50 }), /Timed out after 50 ms/);
  const signal = AbortSignal.timeout(50);
  assert.match(await registry.execute("tried", { count: 1 }, { signal }), /^Error executing tried: .*abort/i);
});

test("middleware wraps a call, and a guard decides last", async () => {
  const seen = [];
  const registry = new ToolRegistry([made(() => "ran")]);
  registry.use(async (call, next) => {
    seen.push(call.name);
    return next();
  });
  registry.guard(({ args }) => args.count < 10 || "too many");
  assert.equal(await registry.execute("tried", { count: 1 }), "ran");
  assert.match(await registry.execute("tried", { count: 10 }), /too many/);
  assert.deepEqual(seen, ["tried", "tried"]);
});

test("the ten default tools have their names, in their order", () => {
  const registry = createDefaultToolRegistry(undefined, { root: newFolder() });
  const names =
    "read_file write_file list_dir mkdir remove move search_text search_files run_bash save_session_context";
  assert.deepEqual([...registry.getToolNames()].sort(), names.split(" ").sort());
});

await runTests();
