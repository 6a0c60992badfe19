import { defineTool, type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { createProgramTools, type ProgramOptions } from "./index.ts";

const anything = { type: "object" } as const;

/** Returns a registry with these tools and `run_program`. */
function registryOf(tools: readonly ExecutableTool[], options?: ProgramOptions): ToolRegistry {
  const registry = new ToolRegistry(tools);
  registry.register(...createProgramTools(registry, options));
  return registry;
}

const run = (code: string, tools: readonly ExecutableTool[] = [], options?: ProgramOptions): Promise<string> =>
  registryOf(tools, options).execute("run_program", { code }, { callId: "call" });

const echo = defineTool({
  name: "echo",
  description: "Says what it gets.",
  parameters: anything,
  readOnly: true,
  execute: (args) => JSON.stringify(args),
});

describe("a program", () => {
  test("answers what it prints, then what it returns", async () => {
    expect(await run('text("one"); console.log("two", 2, { a: [1] }); return "three"')).toBe(
      'one\ntwo 2 {"a":[1]}\nthree',
    );
    expect(await run("")).toBe("(no output)");
    expect(await run("return { a: 1n, b: new Map([[1, 2]]), c: new Set([3]) }")).toBe('{"a":"1","b":[[1,2]],"c":[3]}');
  });

  test("calls tools, and gets their text", async () => {
    expect(await run("return await tools.echo({ a: 1 })", [echo])).toBe('{"a":1}');
  });
});
