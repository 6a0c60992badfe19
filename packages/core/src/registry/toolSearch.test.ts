import { describe, expect, test } from "vitest";
import { defineTool } from "../defineTool.ts";
import type { ExecutableTool } from "../interface.ts";
import { testTool } from "../testing.ts";
import { ToolRegistry } from "./registry.ts";
import { toolFingerprint } from "./toolFingerprint.ts";
import { createToolSearch } from "./toolSearch.ts";

const parameters = { type: "object", properties: {}, additionalProperties: false } as const;

function tool(name: string, description: string, deferred?: boolean): ExecutableTool {
  return defineTool({
    name,
    description,
    parameters,
    execute: () => name,
    ...(deferred !== undefined && { deferred }),
  });
}

function registryOf(...tools: ExecutableTool[]): ToolRegistry {
  const registry = new ToolRegistry(tools);
  registry.register(createToolSearch(registry));
  return registry;
}

const issues = [
  tool("mcp__hub__create_issue", "Creates an issue in a repository.", true),
  tool("mcp__hub__listIssues", "Lists the issues of a repository.", true),
  tool("mcp__hub__merge", "Merges a pull request of a repository.", true),
  tool("mcp__hub__search", "Searches code.\n\nFast.", true),
  tool("read_file", "Reads a file; never found, as it is not deferred: issue."),
];

async function found(query: string, limit?: number): Promise<unknown> {
  const outcome = await registryOf(...issues).invoke("search_tools", { query, ...(limit && { limit }) });
  return outcome.ok && (outcome.data as { tools: unknown }).tools;
}

describe("search_tools", () => {
  testTool(test, { create: () => createToolSearch(new ToolRegistry(issues)), validArgs: () => ({ query: "issue" }) });

  test("finds deferred tools by words of name and description, in any case and form, the best first", async () => {
    expect(await found("issue")).toEqual(["mcp__hub__create_issue", "mcp__hub__listIssues"]);
    expect(await found("LIST Issues")).toEqual(["mcp__hub__listIssues", "mcp__hub__create_issue"]);
    expect(await found("pull")).toEqual(["mcp__hub__merge"]);
    expect((await found("mcp__hub__merge")) as string[]).toHaveProperty("0", "mcp__hub__merge");
    expect(await found("merge the repository", 1)).toEqual(["mcp__hub__merge"]);
  });

  test("answers a line for each, with its description on one line and short", async () => {
    const long = tool("long", `Does code ${"x ".repeat(300)}`, true);
    expect(await registryOf(...issues, long).execute("search_tools", { query: "code" })).toBe(
      `mcp__hub__search: Searches code. Fast.\nlong: ${`Does code ${"x ".repeat(300)}`.slice(0, 200)}…`,
    );
  });

  test("says that there are more, and how to see them", async () => {
    const registry = registryOf(...issues);
    const outcome = await registry.invoke("search_tools", { query: "repository", limit: 1 });
    expect(outcome).toMatchObject({ data: { tools: ["mcp__hub__create_issue"], total: 3 } });
    expect(outcome.ok && outcome.output).toMatch(/\n\n\[truncated: shown 1 of 3 tools; pass limit=3 to continue\]$/);
    const many = Array.from({ length: 30 }, (_, index) => tool(`t${index}`, "The same.", true));
    const most = await registryOf(...many).execute("search_tools", { query: "same", limit: 20 });
    expect(most).toMatch(/\n\n\[truncated: shown 20 of 30 tools\]$/);
  });

  test("says when nothing fits", async () => {
    const outcome = await registryOf(...issues).invoke("search_tools", { query: "weather" });
    expect(outcome).toMatchObject({
      output: 'No matches for "weather" among 4 tools',
      data: { tools: [], total: 0 },
    });
    expect(await registryOf().execute("search_tools", { query: "!?" })).toBe('No matches for "!?" among 0 tools');
  });

  test("sees the registry as it is at the call, without disabled tools", async () => {
    const registry = registryOf(...issues);
    registry.disable("mcp__hub__merge");
    registry.register(tool("merge_lines", "Merges lines.", true));
    const outcome = await registry.invoke("search_tools", { query: "merge" });
    expect(outcome).toMatchObject({ data: { tools: ["merge_lines"] } });
  });
});

describe("a deferred tool", () => {
  test("is listed as such, is among the enabled schemas, and runs", async () => {
    const registry = new ToolRegistry([tool("a", "A.", true), tool("b", "B."), tool("c", "C.", false)]);
    expect(registry.listTools().map(({ deferred }) => deferred)).toEqual([true, undefined, undefined]);
    expect(registry.getEnabledSchemas()).toHaveLength(3);
    expect(await registry.execute("a")).toBe("a");
  });

  test("has the same fingerprint as one that is not", () => {
    expect(toolFingerprint(tool("a", "A.", true))).toBe(toolFingerprint(tool("a", "A.")));
  });
});
