// A registry: repair and refusal of arguments, guards, middleware, limits, aborts.
import assert from "node:assert/strict";
import { defineTool, limitOutput, ToolRegistry, toolOutput } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";

const greet = defineTool({
  name: "greet",
  description: "Greets.",
  parameters: {
    type: "object",
    properties: { name: { type: "string", pattern: "^\\p{Lu}" }, times: { type: "integer" } },
    required: ["name"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { length: { type: "integer" } }, required: ["length"] },
  effects: () => [],
  execute: ({ name, times = 1 }) => toolOutput(`${"Hello ".repeat(times)}${name}`, { data: { length: name.length } }),
});

const wait = defineTool({
  name: "wait",
  description: "Waits until it is aborted.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  execute: (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true })),
});

export function registry({ test }) {
  testTool(test, { create: () => greet, validArgs: () => ({ name: "Ada" }) });

  test("repairs what has one meaning and refuses the rest in words", async () => {
    const tools = new ToolRegistry([greet]);
    assert.equal(await tools.execute("greet", { name: "Ada", times: "2" }), "Hello Hello Ada");
    assert.equal(await tools.execute("greet", '{"name":"Ada"}'), "Hello Ada");
    assert.match(await tools.execute("greet", { name: "ada" }), /^Error executing greet: Invalid arguments: name/);
    assert.match(await tools.execute("greet", '{"name":'), /^Error executing greet: .*JSON/);
    assert.match(await tools.execute("gret", {}), /^Tool not found: gret.*greet/);
  });

  test("asks guards, wraps by middleware, and words a refusal", async () => {
    const tools = new ToolRegistry([greet]);
    tools.use(limitOutput(200));
    assert.match(await tools.execute("greet", { name: "Ada", times: 1000 }), /\[truncated: /);
    tools.guard(({ args }) => (args.name === "Eve" ? "not her" : true));
    assert.equal(await tools.execute("greet", { name: "Eve" }), "Error executing greet: Permission denied: not her");
    assert.equal(await tools.execute("greet", { name: "Ada" }), "Hello Ada");
  });

  test("ends what runs past its limit, and at an abort", async () => {
    const tools = new ToolRegistry([wait]);
    assert.equal(await tools.execute("wait", {}, { timeoutMs: 50 }), "Error executing wait: Timed out after 50 ms");
    const outcome = await tools.invoke("wait", {}, { signal: AbortSignal.timeout(50) });
    assert.equal(outcome.error.code, "aborted");
  });
}
