import type { RequestListener } from "node:http";
import { expect, test } from "vitest";
import { type Mounted, mounted, path, serveLoopback } from "../fixtures/mounting.ts";
import type { MountMcpOptions } from "./client/mountMcp.ts";

const flood = (what: string, options?: MountMcpOptions): Promise<Mounted> =>
  mounted({ s: { command: process.execPath, args: [path("floodServer.mjs"), what] } }, options);

test("of 20,000 tools the first 1,000 are mounted, and the cut is reported", async () => {
  const { mount } = await flood("tools");
  expect(mount.tools).toHaveLength(1000);
  expect(mount.tools[999]?.name).toBe("mcp__s__t999");
  expect(mount.problems).toMatchObject([
    { code: "tools_left_out", message: "MCP server s: it lists more than 1000 tools; the first 1000 are mounted" },
    { code: "many_tools" },
  ]);
});

test("a list with endless pages is cut, and its tools so far are mounted", async () => {
  const { mount } = await flood("pages");
  expect(mount.tools.map(({ name }) => name)).toEqual(["mcp__s__usable"]);
  expect(mount.problems).toMatchObject([
    { code: "tools_left_out", message: expect.stringContaining("has more than 1000 pages") },
  ]);
});

test("a tool that is too large or nested too deeply is named and left out; the others are mounted", async () => {
  const { mount } = await flood("large");
  expect(mount.tools.map(({ name }) => name)).toEqual(["mcp__s__usable"]);
  expect(mount.problems).toMatchObject([
    { code: "invalid_tool", details: { tool: "large", problem: expect.stringContaining("at most 65536 are taken") } },
    { code: "invalid_tool", details: { tool: "deep" } },
  ]);
});

test("a long result is cut with a notice", async () => {
  const { registry } = await flood("text");
  const output = await registry.execute("mcp__s__usable", {});
  expect(output.length).toBeLessThan(27_000);
  expect(output.slice(-100)).toMatch(/\n\n\[truncated: shown \d+ of 1010000 bytes\]$/);
});

test("a message over the limit ends the server with a reason, and the next call starts it again", async () => {
  const { registry } = await flood("line");
  for (let round = 0; round < 2; round += 1) {
    expect(await registry.execute("mcp__s__usable", {})).toMatch(
      /MCP server s ended during the call[\s\S]*sent a message of more than 10485760 bytes/,
    );
  }
});

/** A server over HTTP with one tool, whose call is answered by `answer`. */
async function webServer(answer: (id: unknown) => { type: string; body: () => Iterable<string> }): Promise<string> {
  const listener: RequestListener = (request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const { id, method } = text === "" ? { id: undefined, method: request.method } : JSON.parse(text);
      if (id === undefined) {
        response.writeHead(method === "GET" ? 405 : 202).end();
        return;
      }
      const result = {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "web", version: "1" },
        tools: [{ name: "usable", description: "Works.", inputSchema: { type: "object" } }],
      };
      const whole = { type: "application/json", body: () => [JSON.stringify({ jsonrpc: "2.0", id, result })] };
      const { type, body } = method === "tools/call" ? answer(id) : whole;
      response.writeHead(200, { "content-type": type });
      for (const piece of body()) response.write(piece);
      response.end();
    });
  };
  return `${await serveLoopback(listener)}/mcp`;
}

const megabyte = "x".repeat(1024 * 1024);

test.each([
  ["application/json", '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"'],
  ["text/event-stream", "data: "],
])("over HTTP too: a message without end as %s", async (type, head) => {
  const url = await webServer(() => ({ type, body: () => [head, ...Array<string>(12).fill(megabyte)] }));
  const { registry } = await mounted({ web: { url } });
  expect(await registry.execute("mcp__web__usable", {})).toMatch(/sent a message of more than 10485760 bytes/);
});

test("a long stream of short events does not count as a long message", async () => {
  const event = `event: ping\ndata: ${"x".repeat(1000)}\r\n\r\n`.repeat(1000);
  const last = (id: unknown): string =>
    `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "fine" }] } })}\n\n`;
  const url = await webServer((id) => ({
    type: "text/event-stream",
    body: () => [...Array<string>(12).fill(event), last(id)],
  }));
  const { registry } = await mounted({ web: { url } });
  expect(await registry.execute("mcp__web__usable", {})).toBe("fine");
});
