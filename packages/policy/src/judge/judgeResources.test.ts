import { defineTool, type GuardedCall } from "@toolcrib/core";
import { expect, test } from "vitest";
import { createPolicy } from "../policy.ts";

/* The tools that read resources of MCP servers: a rule about every tool of a server is about them, too. */

const server = { type: "string", enum: ["files", "my web"], description: "Name" } as const;

function call(name: string, args: Record<string, unknown>, origin = "@toolcrib/mcp"): GuardedCall {
  const tool = defineTool({
    name,
    description: "Reads.",
    parameters: { type: "object", properties: { server } },
    execute: () => "",
  });
  return { name, args, tool, origin, effects: undefined, callId: undefined, labels: undefined, signal: undefined };
}

const read = (name: string) => call("read_resource", { server: name, uri: "notes://a" });
const decide = async (one: GuardedCall, list: "deny" | "ask" | "allow", rule: string): Promise<string> => {
  const policy = createPolicy({ roots: "/", mode: "full", allow: ["read_resource", "list_resources"], [list]: [rule] });
  return (await policy.explain(one)).decision;
};

test.each(["deny", "ask"] as const)("%s of every tool of a server holds for its resources alone", async (list) => {
  expect(await decide(read("files"), list, "mcp__files__*")).toBe(list);
  expect(await decide(read("my web"), list, "mcp__my_web__*")).toBe(list);
  expect(await decide(read("my web"), list, "mcp__files__*")).toBe("allow");
  expect(await decide(call("list_resources", { server: "files" }), list, "mcp__files__*")).toBe(list);
  expect(await decide(call("list_resources", { server: "my web" }), list, "mcp__files__*")).toBe("allow");
});

test("a list of all servers is one of the server that a rule denies, too", async () => {
  expect(await decide(call("list_resources", {}), "deny", "mcp__files__*")).toBe("deny");
  expect(await decide(call("list_resources", {}), "deny", "mcp__other__*")).toBe("allow");
});

test("a rule about one tool of a server, or the argument of another pack, changes nothing", async () => {
  expect(await decide(read("files"), "deny", "mcp__files__read_resource")).toBe("allow");
  expect(await decide(call("read_resource", { server: "files" }, "own"), "deny", "mcp__files__*")).toBe("allow");
});

test("the tools of a server that is allowed say nothing about its resources", async () => {
  const policy = createPolicy({ roots: "/", allow: ["mcp__files__*"] });
  expect((await policy.explain(read("files"))).decision).toBe("ask");
});
