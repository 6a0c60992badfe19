// Microseconds that the registry adds to a call of a tool that does nothing.
import { ToolRegistry } from "@toolcrib/core";
import { answer } from "../pairs.mjs";

const tool = {
  name: "noop",
  getSchema: () => ({
    type: "function",
    function: { name: "noop", description: "Nothing.", parameters: { type: "object", properties: {} } },
  }),
  execute: async () => "ok",
};
const registry = new ToolRegistry();
registry.register(tool);
const calls = 100_000;

answer(async () => {
  const args = {};
  let started = performance.now();
  for (let call = 0; call < calls; call += 1) await tool.execute(args);
  const bare = performance.now() - started;
  started = performance.now();
  for (let call = 0; call < calls; call += 1) await registry.execute("noop", args);
  const through = performance.now() - started;
  registry.getEnabledSchemas();
  started = performance.now();
  for (let call = 0; call < calls; call += 1) registry.getEnabledSchemas();
  const schemas = performance.now() - started;
  return { count: calls, addedUs: ((through - bare) / calls) * 1000, schemasUs: (schemas / calls) * 1000 };
});
