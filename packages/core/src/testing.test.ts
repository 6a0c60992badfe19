import { expect, test } from "vitest";
import { defineTool } from "./defineTool.ts";
import type { ExecutableTool } from "./interface.ts";
import { toolOutput } from "./registry/outcome.ts";
import { testTool } from "./testing.ts";

const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

function tool(data: unknown, extra: object = {}): ExecutableTool {
  const parameters = { type: "object", properties: {}, additionalProperties: false } as const;
  const execute = (): string => toolOutput("text", { data });
  return { ...defineTool({ name: "a", description: "a", parameters, execute }), ...extra };
}

/** The names of the checks that `subject` fails. */
async function failuresOf(subject: ExecutableTool): Promise<string[]> {
  const checks: [string, () => Promise<void>][] = [];
  testTool((name, run) => checks.push([name, run]), { create: () => subject, validArgs: () => ({}) });
  const failed: string[] = [];
  for (const [name, run] of checks) await run().catch(() => failed.push(name));
  return failed;
}

test("a tool whose data does not fit its outputSchema fails the suite, and one that gives none", async () => {
  const failed = ["a tool gives the data that its outputSchema promises"];
  expect(await failuresOf(tool({ n: 1 }, { outputSchema }))).toEqual([]);
  expect(await failuresOf(tool({ n: "1" }, { outputSchema }))).toEqual(failed);
  expect(await failuresOf(tool(undefined, { outputSchema }))).toEqual(failed);
  expect(await failuresOf(tool({ n: "1" }))).toEqual([]);
});

test("a tool whose effects fail, or are of another shape, fails the suite", async () => {
  const failed = ["a tool says what a call would do, where it has effects"];
  const throwing = (): never => {
    throw new Error("no");
  };
  expect(await failuresOf(tool(1, { effects: async () => [{ kind: "read", path: "/a" }] }))).toEqual([]);
  expect(await failuresOf(tool(1, { effects: throwing }))).toEqual(failed);
  expect(await failuresOf(tool(1, { effects: () => [{ kind: "sing" }] }))).toEqual(failed);
});

test("a tool for programs alone is tested as a program calls it", async () => {
  const failed = ["a tool gives the data that its outputSchema promises"];
  expect(await failuresOf(tool({ n: 1 }, { outputSchema, callers: ["programs"] }))).toEqual([]);
  expect(await failuresOf(tool({ n: "1" }, { outputSchema, callers: ["programs"] }))).toEqual(failed);
});
