import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramEnd } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { homeFor } from "../../../fixtures/command.ts";
import { plainServer, tool } from "../../../fixtures/servers.ts";

const home = homeFor("user");
const own = (): string => join(home.base, "config/toolcrib/mcp.json");
const toolcrib = (...args: string[]): Promise<ProgramEnd> => home.toolcrib(args);

/** A server of one tool, which says whose it is. */
const serverOf = (whose: string): string[] =>
  plainServer({ tools: [tool("who")], results: { who: { content: [{ type: "text", text: whose }] } } });

test("--protocol sets the revision: in an entry, for a test, and for a call", async () => {
  const server = plainServer({ speaks: "both", resultType: "complete", tools: [tool("revision")] });
  expect((await toolcrib("mcp", "add", "--protocol", "auto", "s", "--", ...server)).code).toBe(0);
  expect(JSON.parse(readFileSync(home.at(".mcp.json"), "utf8")).mcpServers.s.protocol).toBe("auto");
  const call = ["tools", "call", "--mcp", "mcp__s__revision"];
  expect(await toolcrib(...call)).toMatchObject({ code: 0, stdout: '"2026-07-28"' });
  expect(await toolcrib(...call, "--protocol", "legacy")).toMatchObject({ code: 0, stdout: "null" });
  expect((await toolcrib("mcp", "test", "s", "--protocol", "2026-07-28")).code).toBe(0);
  expect((await toolcrib("tools", "list", "--protocol", "auto")).stderr).toContain("--protocol is for --mcp");
  expect((await toolcrib("mcp", "remove", "s")).code).toBe(0);
});

test("a tool that needs a task fails no test, and a call neither repeats the problem nor starts the server twice", async () => {
  const starts = home.at("starts");
  const server = plainServer({ starts, tools: [tool("hi"), tool("slow", { execution: { taskSupport: "required" } })] });
  expect((await toolcrib("mcp", "add", "task", "--", ...server)).code).toBe(0);
  const tested = await toolcrib("mcp", "test", "task", "--protocol", "legacy");
  expect(tested).toMatchObject({ code: 0, stdout: expect.stringContaining("mcp__task__hi") });
  expect(tested.stderr).toBe(
    "Tool slow of the MCP server task is left out: it runs only as a task, which clients have to ask after; such tools are not supported\n",
  );
  expect((await toolcrib("tools", "list", "--mcp")).stdout).toContain("mcp__task__hi");
  expect(readFileSync(starts, "utf8")).toBe("x");
  expect(await toolcrib("tools", "call", "--mcp", "mcp__task__hi")).toMatchObject({
    code: 0,
    stdout: "{}",
    stderr: "",
  });
  expect(readFileSync(starts, "utf8")).toBe("xx");
  expect((await toolcrib("mcp", "remove", "task")).code).toBe(0);
});

test("a server of the user's own serves in every directory without a question, from a file that only the user can read", async () => {
  expect((await toolcrib("mcp", "add", "--user", "mine", "--", ...serverOf("the user's"))).code).toBe(0);
  expect(statSync(own()).mode & 0o777).toBe(0o600);
  expect(existsSync(home.at(".mcp.json"))).toBe(false);
  const called = await toolcrib("tools", "call", "--mcp", "mcp__mine__who");
  expect(called).toMatchObject({ code: 0, stdout: "the user's", stderr: "" });
  expect((await toolcrib("mcp", "list")).stdout).toMatch(new RegExp(`^mine .*  ${own()}\\n$`));
  expect(JSON.parse((await toolcrib("mcp", "list", "--json")).stdout)).toMatchObject({
    mcpServers: {},
    user: { mcpServers: { mine: { command: process.execPath } } },
  });
  expect((await toolcrib("mcp", "remove", "--user", "mine")).code).toBe(0);
  expect(JSON.parse(readFileSync(own(), "utf8"))).toEqual({ mcpServers: {} });
});

test("a project's server of the same name stands in for the user's only when it is allowed, and says so", async () => {
  await toolcrib("mcp", "add", "--user", "s", "--", ...serverOf("the user's"));
  const [command, ...args] = serverOf("the project's");
  writeFileSync(home.at(".mcp.json"), JSON.stringify({ mcpServers: { s: { command, args } } }));
  const refused = await toolcrib("tools", "call", "--mcp", "mcp__s__who");
  expect(refused).toMatchObject({ code: 4, stdout: "" });
  expect(refused.stderr).toMatch(/s is not allowed to start/);
  expect((await toolcrib("mcp", "list")).stdout).toMatch(/ \(not allowed yet\) {2}\.mcp\.json\n/);
  await toolcrib("mcp", "allow", "s");
  const called = await toolcrib("tools", "call", "--mcp", "mcp__s__who");
  expect(called).toMatchObject({ code: 0, stdout: "the project's" });
  expect(called.stderr).toBe(`s of .mcp.json is used in place of yours in ${own()}.\n`);
  expect((await toolcrib("chat", "-m", "offline")).stderr).toContain(called.stderr);
  expect((await toolcrib("mcp", "list")).stdout).toContain(`(the one of .mcp.json is used)  ${own()}\n`);
});

test("a project cannot switch off a server of the user's", async () => {
  await toolcrib("mcp", "add", "--user", "s", "--", ...serverOf("the user's"));
  writeFileSync(home.at(".mcp.json"), JSON.stringify({ mcpServers: { s: { command: "x", disabled: true } } }));
  expect((await toolcrib("tools", "call", "--mcp", "mcp__s__who")).stdout).toBe("the user's");
});

test("tools list --mcp shows the servers' tools, and tools call without it says what to add", async () => {
  await toolcrib("mcp", "add", "s", "--", ...serverOf("hello"));
  const { code, stdout } = await toolcrib("tools", "list", "--mcp", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout).map(({ name }: { name: string }) => name)).toContain("mcp__s__who");
  expect((await toolcrib("tools", "list")).stdout).not.toContain("mcp__");
  const { stderr, code: usage } = await toolcrib("tools", "call", "mcp__s__who");
  expect({ stderr, usage }).toEqual({
    stderr: "toolcrib: tools call mcp__s__who: the tools of MCP servers come with --mcp\n",
    usage: 2,
  });
});

test("a rule binds a server's tool that is called by hand", async () => {
  await toolcrib("mcp", "add", "s", "--", ...serverOf("hello"));
  const { code, stdout } = await toolcrib("tools", "call", "--mcp", "--deny", "mcp__s__*", "mcp__s__who");
  expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
});
