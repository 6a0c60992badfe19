import type { ExecutableTool, JsonSchema } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { registryOf, run, toolOf } from "../testing/registries.ts";
import { declarationOf } from "./declarations.ts";

function toolWith(parameters: JsonSchema, name = "some", description = "Does some. And more."): ExecutableTool {
  const getSchema: ExecutableTool["getSchema"] = () => ({
    type: "function",
    function: { name, description, parameters },
  });
  return { ...toolOf(name, () => ""), getSchema };
}

const object = (properties: Record<string, unknown>, more: JsonSchema = {}): JsonSchema => ({
  type: "object",
  properties,
  ...more,
});
const typeOf = (schema: JsonSchema): string =>
  /args\?: \{ a\?: ([\s\S]*) \}\): Promise<string>;$/.exec(declarationOf(toolWith(object({ a: schema }))))?.[1] ??
  "none";

describe("a schema as a type", () => {
  test.each<[JsonSchema, string]>([
    [{ type: "string" }, "string"],
    [{ type: "integer" }, "number"],
    [{ type: "boolean" }, "boolean"],
    [{ type: "null" }, "null"],
    [{}, "unknown"],
    [{ const: 1 }, "1"],
    [{ enum: ["a", 2, null, "a"] }, '"a" | 2 | null'],
    [{ enum: [] }, "never"],
    [{ enum: [{ a: 1 }, "x".repeat(500)] }, "unknown | string"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ type: "array", items: { type: "string" } }, "string[]"],
    [{ type: "array", items: { type: ["string", "number"] } }, "(string | number)[]"],
    [{ type: "array" }, "unknown[]"],
    [{ type: "array", prefixItems: [{ type: "string" }], items: false }, "[string]"],
    [{ type: "array", prefixItems: [{ type: "string" }], items: { type: "number" } }, "[string, ...number[]]"],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, "string | number"],
    [{ oneOf: [{ type: "string" }, { type: "string" }] }, "string"],
    [{ allOf: [{ type: "string" }, { anyOf: [{ const: "a" }, { const: "b" }] }] }, 'string & ("a" | "b")'],
    [{ type: "object" }, "Record<string, unknown>"],
    [{ type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
    [{ type: "object", additionalProperties: false }, "{}"],
    [object({ b: { type: "string" }, "c-d": {} }, { required: ["b"] }), '{ b: string; "c-d"?: unknown }'],
    [{ $ref: "#/properties/a/$defs/none" }, "unknown"],
    [{ $ref: "#/%zz" }, "unknown"],
    [{ $ref: "https://example.com" }, "unknown"],
    [{ type: "file" }, "unknown"],
  ])("%j", (schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  test("follows references, ends in circles, and takes bounded work where they double", () => {
    const root = object({ a: { $ref: "#/$defs/a~1b" } }, { $defs: { "a/b": { type: "string" } } });
    expect(declarationOf(toolWith(root))).toContain("{ a?: string }");
    const circle = object({ a: { $ref: "#" } });
    expect(declarationOf(toolWith(circle))).toContain("a?: { a?: { a?: unknown } }");
    const doubling = Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [
        `d${n}`,
        object(Object.fromEntries(Array.from({ length: 30 }, (__, m) => [`p${m}`, { $ref: `#/$defs/d${n + 1}` }]))),
      ]),
    );
    expect(declarationOf(toolWith(object({ a: { $ref: "#/$defs/d0" } }, { $defs: doubling }))).length).toBeLessThan(
      20_000,
    );
  });

  test("says what is needed, what comes back, and cannot be left by a description", () => {
    const tool = {
      ...toolWith(object({ a: { type: "string" } }, { required: ["a"] }), "my-tool", "Ends */ here. More."),
      outputSchema: object({ n: { type: "number" } }),
    };
    expect(declarationOf(tool)).toBe('/** Ends * / here. */\n"my-tool"(args: { a: string }): Promise<{ n?: number }>;');
  });

  test("has the words of arguments where one tool is described", () => {
    const tool = toolWith(object({ a: { type: "string", description: "Path\nof it" } }));
    expect(declarationOf(tool, { isWhole: true })).toBe(
      "/** Does some. And more. */\nsome(args?: { /** Path of it */ a?: string }): Promise<string>;",
    );
  });
});

describe("the description of run_program", () => {
  const many = (count: number): ExecutableTool[] =>
    Array.from({ length: count }, (_, n) =>
      toolWith(
        object({ path: { type: "string" }, limit: { type: "integer" } }, { required: ["path"] }),
        `tool_${n}`,
        `Does thing ${n}.`,
      ),
    );
  const described = (tools: readonly ExecutableTool[], options?: Parameters<typeof registryOf>[1]): string =>
    registryOf(tools, options).get("run_program")?.getSchema().function.description ?? "";

  test("is the same, byte for byte, for the same tools in any order", () => {
    const tools = many(20);
    expect(described([...tools].reverse())).toBe(described(tools));
    expect(described(tools)).toBe(described(tools));
  });

  test("declares the tools that are there when it is registered, and keeps the text", () => {
    const registry = registryOf(many(1));
    const before = registry.listTools().at(-1)?.description;
    registry.register(toolOf("later", () => ""));
    expect(registry.listTools().find(({ name }) => name === "run_program")?.description).toBe(before);
    expect(before).toContain("tool_0(args: { path: string; limit?: number }): Promise<string>;");
    expect(before).toContain("tools.tool_0({ path })");
    expect(before).not.toContain("later");
  });

  test("does so within its budget, and names the others, or as many as there is room for", () => {
    for (const [count, maxDeclarationTokens] of [
      [10, 3000],
      [200, 3000],
      [2000, 3000],
      [300, 100],
      [50, 10],
    ] as const) {
      const text = described(many(count), { maxDeclarationTokens });
      const declarations = text.slice(text.search(/declare const tools|No tool is declared/));
      expect(declarations.length, String(count)).toBeLessThanOrEqual(Math.max(maxDeclarationTokens * 3.2, 100));
      const shown = new Set(declarations.match(/tool_\d+/g));
      const more = Number(/(?:and (\d+) more|: (\d+) tools)$/.exec(declarations)?.slice(1).find(Boolean) ?? 0);
      expect(shown.size + more, String(count)).toBe(count);
    }
  });

  test("declares small tools where a large one does not fit, and only names deferred ones", () => {
    const large = toolWith(
      object(Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`${"x".repeat(300)}${n}`, {}]))),
      "large",
    );
    const hidden = toolOf("hidden", () => "", { deferred: true });
    const text = described([large, hidden, ...many(2)]);
    expect(text).toMatch(/tool_1\(args: .*\n\};\nAlso there, by searchTools and describeTool: hidden, large$/);
  });

  test("is found by searchTools in the order of fit, and the tools are callable", async () => {
    const tools = [
      toolOf("read_file", () => "read"),
      toolOf("list_files", () => "listed", { description: "Lists the files." }),
    ];
    expect(await run("return (await searchTools('list files')).map(({ name }) => name).join()", tools)).toBe(
      "list_files,read_file",
    );
  });
});
