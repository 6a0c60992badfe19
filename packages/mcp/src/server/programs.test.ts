import { defineTool, ToolRegistry } from "@toolcrib/core";
import { createProgramTools } from "@toolcrib/tools-program";
import { expect, test } from "vitest";
import { ask, connected, served } from "../../fixtures/serving.ts";

test("run_program is served like any tool: a client's program makes fifty calls, and catches a denial", async () => {
  const parameters = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
  const square = defineTool({
    ...{ name: "square", description: "Squares.", parameters, readOnly: true },
    execute: ({ n }) => String(n * n),
  });
  const registry = new ToolRegistry([square]);
  registry.register(...createProgramTools(registry));
  registry.guard(({ name, args }) => name !== "square" || args.n !== 7 || "seven stays as it is");
  const client = await connected(await served(registry));
  const { tools } = await client.listTools();
  expect(tools.find(({ name }) => name === "run_program")?.annotations).toEqual({ readOnlyHint: true });
  const code = `const all = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => tools.square({ n })));
    return all.map(({ value, reason }) => value ?? reason.message).slice(6, 9)`;
  expect(await ask(client, "run_program", { code })).toEqual([
    false,
    '["36","Error executing square: Permission denied: seven stays as it is","64"]',
  ]);
});
