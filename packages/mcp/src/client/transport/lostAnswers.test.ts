import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { mounted, serveLoopback } from "../../../fixtures/mounting.ts";

const events = { "content-type": "text/event-stream" };
const tools = [{ name: "go", inputSchema: { type: "object" } }];
const content = [{ type: "text", text: "late" }];
const about = { capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };

/** A server whose answer to a call ends before its result: by a broken connection or not, with the id of an event to resume from or not. */
async function breaking({ id, isCut, resumes = false }: { id: boolean; isCut: boolean; resumes?: boolean }) {
  let call: unknown;
  const origin = await serveLoopback(async (request, response) => {
    const message = request.method === "POST" ? JSON.parse(await text(request)) : undefined;
    const answer = (of: unknown, result: object): string => JSON.stringify({ jsonrpc: "2.0", id: of, result });
    if (!message) {
      if (!resumes || !request.headers["last-event-id"]) return void response.writeHead(405).end();
      return void response.writeHead(200, events).end(`id: 2\ndata: ${answer(call, { content })}\n\n`);
    }
    if (message.method === "tools/call") {
      call = message.id;
      response.writeHead(200, events).write(id ? "id: 1\nretry: 1\ndata: \n\n" : ": nothing yet\n\n");
      return void setImmediate(() => (isCut ? response.destroy() : response.end()));
    }
    const { protocolVersion } = message.params ?? {};
    const result = message.method === "initialize" ? { ...about, protocolVersion } : { tools };
    if (message.id === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { "content-type": "application/json" }).end(answer(message.id, result));
  });
  return { url: `${origin}/mcp` };
}

test.each([
  { id: false, isCut: true },
  { id: false, isCut: false },
  { id: true, isCut: true },
  { id: true, isCut: false },
])("a call whose answer ends before its result fails at once, in words: %j", async (how) => {
  const { registry } = await mounted({ s: await breaking(how) });
  expect(await registry.execute("mcp__s__go", {})).toBe(
    "Error executing mcp__s__go: MCP server s ended its answer to the call, which may have completed, before it was whole",
  );
  expect(await registry.execute("mcp__s__go", {})).toContain("may have completed");
});

test.each([true, false])("one that can be resumed is: cut %s", async (isCut) => {
  const { registry } = await mounted({ s: await breaking({ id: true, isCut, resumes: true }) });
  expect(await registry.execute("mcp__s__go", {})).toBe("late");
});

test("a call over the transport of 2024 fails when its stream breaks, and the next one begins anew", async () => {
  let stream: ServerResponse | undefined;
  let breaks = true;
  const origin = await serveLoopback(async (request, response) => {
    if (request.method === "GET") {
      stream = response.writeHead(200, events);
      return void response.write("event: endpoint\ndata: /messages\n\n");
    }
    const { id, method, params } = JSON.parse(await text(request));
    response.writeHead(202).end();
    if (id === undefined) return;
    if (method === "tools/call" && breaks) return void stream?.destroy();
    const result = method === "initialize" ? { ...about, protocolVersion: params.protocolVersion } : { tools, content };
    stream?.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
  });
  const { registry } = await mounted({ s: { type: "sse", url: `${origin}/sse` } });
  expect(await registry.execute("mcp__s__go", {})).toContain("ended during the call, which may have completed");
  breaks = false;
  expect(await registry.execute("mcp__s__go", {})).toBe("late");
});
