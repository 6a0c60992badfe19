import { defineTool, ToolRegistry } from "@toolcrib/core";
import { createProgramTools } from "@toolcrib/tools-program";
import { describe, expect, test, vi } from "vitest";
import { loops } from "../testing/loops.ts";

const parameters = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
const traits = { readOnly: true, callers: ["programs"] } as const;
const square = defineTool({
  ...{ name: "square", description: "Squares.", parameters, ...traits },
  execute: ({ n }) => String(n * n),
});

/** Returns a registry in which programs alone square, but never 7. */
function registryOf(): ToolRegistry {
  const registry = new ToolRegistry([square]);
  registry.register(...createProgramTools(registry));
  return registry.guard(({ name, args }) => name !== "square" || args.n !== 7 || "seven stays as it is");
}

const code = `const all = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => tools.square({ n })));
  return all.map(({ value, reason }) => value ?? reason.code).slice(5, 9)`;

describe.each(Object.entries(loops))("under %s", (_, start) => {
  test("a program makes fifty calls in one, and catches a denial", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const told = await start([registryOf()], [() => [{ name: "run_program", args: JSON.stringify({ code }) }]], {});
    expect(told?.results).toHaveLength(1);
    const [result = ""] = told?.results ?? [];
    for (const part of ["25", "36", "permission_denied", "64"]) expect(result).toContain(part);
    expect(told?.shown.flat().filter((name) => name === "square")).toEqual([]);
  });
});
