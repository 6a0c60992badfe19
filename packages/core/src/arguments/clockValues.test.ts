import { describe, expect, test } from "vitest";
import type { ExecutableTool } from "../interface.ts";
import { ToolRegistry } from "../registry/registry.ts";
import { toolFingerprint } from "../registry/toolFingerprint.ts";

const toolWith = (property: object, source: object = { origin: "mcp:s", hints: {} }): ExecutableTool => ({
  ...source,
  name: "t",
  getSchema: () => ({
    type: "function",
    function: {
      name: "t",
      description: "Does it.",
      parameters: { type: "object", properties: { a: property }, required: ["a"] },
    },
  }),
  execute: async (args) => JSON.stringify(args),
});
const of = (property: object): string => toolFingerprint(toolWith(property));

describe("in the fingerprint of a stranger's tool", () => {
  test.each<[before: unknown, after: unknown]>([
    ["2026-11-28", "2026-11-29"],
    ["2026-11-28T10:00:00.123Z", "2026-11-29T11:01:02+01:00"],
    ["2026-11-28 10:00:00", "2026-10-29 10:00"],
    ["Sat, 28 Nov 2026 10:00:00 GMT", "Sun, 29 Nov 2026 10:00:00 GMT"],
    ["Sat Nov 28 2026 10:00:00 GMT+0000 (Coordinated Universal Time)", "Sun Nov 29 2026 10:00:00 GMT+0000 (CET)"],
    ["11/28/2026, 10:00:00 AM", "11/29/2026, 9:00:00 PM"],
    ["10:15", "10:16:01"],
    ["20261128T101500Z", "20261129T101500Z"],
    ["1796000000", "1796000001000"],
    [1796000000, 1.5],
    [
      { from: "2026-11-28", to: ["10:00"] },
      { from: "2026-11-29", to: ["11:00"] },
    ],
  ])("a default or example counts by its type: %j, %j", (before, after) => {
    expect(of({ default: before })).toBe(of({ default: after }));
    expect(of({ examples: [before] })).toBe(of({ examples: [after] }));
    expect(of({ items: { example: before } })).toBe(of({ items: { example: after } }));
    expect(of({ default: before })).not.toBe(of({ default: "x" }));
  });

  test.each<[before: object, after: object]>([
    [{ default: "a" }, { default: "b" }],
    [{ default: true }, { default: false }],
    [{ default: "rm -rf 2026-11-28" }, { default: "rm -rf 2026-11-29" }],
    [{ default: "2026-11-28 10:00 (a b)" }, { default: "2026-11-28 10:00 (c d)" }],
    [{ default: "28 Novsend 2026" }, { default: "28 Novkeys 2026" }],
    [{ default: "1.5" }, { default: "1.6" }],
    [{ default: 1 }, { default: "10:00" }],
    [{ default: 1 }, {}],
    [{ default: { "2026-11-28": 1 } }, { default: { "2026-11-29": 1 } }],
    [{ const: "2026-11-28" }, { const: "2026-11-29" }],
    [{ enum: [1] }, { enum: [2] }],
    [{ minimum: 1 }, { minimum: 2 }],
    [{ description: "10:00" }, { description: "11:00" }],
    [{ properties: { default: { const: 1 } } }, { properties: { default: { const: 2 } } }],
  ])("anything else counts: %j, %j", (before, after) => {
    expect(of(before)).not.toBe(of(after));
  });

  test("of one's own tool each value counts", () => {
    const [before, after] = [1, 2].map((value) => toolFingerprint(toolWith({ default: value }, {})));
    expect(before).not.toBe(after);
  });
});

test.each<[property: object, isFilled: boolean]>([
  [{ type: "string", default: "png" }, true],
  [{ type: "boolean", default: false }, true],
  [{ type: "integer", default: 10 }, false],
  [{ type: "string", default: "2026-11-28" }, false],
  [{ type: "array", default: [{ at: "10:00" }] }, false],
])("a default whose value is not in the fingerprint is never filled in: %j", async (property, isFilled) => {
  expect((await new ToolRegistry([toolWith(property)]).invoke("t", {})).ok).toBe(isFilled);
  expect((await new ToolRegistry([toolWith(property, {})]).invoke("t", {})).ok).toBe(true);
});
