// Runs programs that a model could have written: ours, or a peer's in the folder of the second argument. The first says which.

import { answer } from "../pairs.mjs";
import { importPeer } from "../peers.mjs";

const [what, home] = process.argv.slice(2);
const wait = () => new Promise((resolve) => setTimeout(() => resolve("ok"), 20));

/** By what: makes `run(code)`, which resolves to what the program returns. */
const makers = {
  async own() {
    const { defineTool, ToolRegistry } = await import("@toolcrib/core");
    const { createProgramTools } = await import("@toolcrib/tools-program");
    const parameters = { type: "object", properties: {} };
    const tool = defineTool({ name: "wait", description: "Waits.", parameters, readOnly: true, execute: wait });
    const registry = new ToolRegistry([tool]);
    registry.register(...createProgramTools(registry, { maxCalls: 1000 }));
    return async (code) => Number(await registry.execute("run_program", { code }));
  },
  /** The same calls without a program, 16 at once. */
  async plain() {
    return async (_code, count) => {
      let started = 0;
      const work = async () => {
        for (; started < count; ) {
          started += 1;
          await wait();
        }
      };
      await Promise.all(Array.from({ length: 16 }, work));
      return count;
    };
  },
  async "ai-code-mode"() {
    const { experimental_runCodeMode: runCodeMode } = await importPeer(home, "@ai-sdk/code-mode");
    const { tool } = await importPeer(home, "ai");
    const { z } = await importPeer(home, "zod");
    const tools = { wait: tool({ description: "Waits.", inputSchema: z.object({}), execute: wait }) };
    return async (js) => Number(await runCodeMode({ js, tools }));
  },
  /** A replay of a record of 200 calls, which were made one after the other. */
  async replay() {
    const { defineTool, ToolRegistry } = await import("@toolcrib/core");
    const { createProgramTools } = await import("@toolcrib/tools-program");
    const parameters = { type: "object", properties: { n: { type: "integer" } } };
    const execute = ({ n }) => `result ${n}: ${"x".repeat(200)}`;
    const registry = new ToolRegistry([defineTool({ name: "look", description: "Looks.", parameters, execute })]);
    registry.register(...createProgramTools(registry, { tools: ["look"] }));
    const lines = [];
    const runOn = (code, log) => registry.execute("run_program", { code }, { callId: "p", caller: { log } });
    return async (code) => {
      if (lines.length === 0) await runOn(code, { lines: [], write: (more) => void lines.push(...more) });
      return Number(await runOn(code, { lines, write: () => {} }));
    };
  },
  /** A context for each program, as its tool makes one. */
  async "tanstack-code-mode"() {
    const { createQuickJSIsolateDriver } = await importPeer(home, "@tanstack/ai-isolate-quickjs");
    const driver = createQuickJSIsolateDriver();
    const inputSchema = { type: "object", properties: {} };
    const bindings = { external_wait: { name: "external_wait", description: "Waits.", inputSchema, execute: wait } };
    return async (code) => {
      const context = await driver.createContext({ bindings });
      const { value } = await context.execute(code.replaceAll("tools.", "external_"));
      await context.dispose();
      return Number(value);
    };
  },
  async "pi-codemode"() {
    const { CodemodeSandbox } = await importPeer(home, "@earendil-works/pi-codemode");
    const sandbox = new CodemodeSandbox({ tools: [{ name: "wait", execute: wait }] });
    return async (code) => Number((await sandbox.execute(code)).value);
  },
};

const run = await makers[what]();
answer(async ({ code, calls, times = 1 }) => {
  let count = 0;
  for (let time = 0; time < times; time += 1) count += await run(code, calls);
  return { count };
});
