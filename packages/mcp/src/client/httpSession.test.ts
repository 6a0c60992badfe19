import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { mounted, serveLoopback } from "../../fixtures/mounting.ts";

interface Lost {
  readonly status: number;
  readonly body: string;
  /** Sessions that the server forgets right before their first call. */
  readonly sessions: number;
  /** True if the server gives its sessions no ids, so that there is nothing to lose. */
  readonly isStateless?: boolean;
}

/** Mounts a server with one tool and sessions; `seen` is what it was asked. The tool changes with each session where `isChanging`. */
async function open({ status, body, sessions, isStateless = false }: Lost, isChanging = false) {
  const seen: string[] = [];
  let session = 0;
  const origin = await serveLoopback(async (request, response) => {
    const sent = await text(request);
    const { id, method } = sent === "" ? { id: undefined, method: request.method } : JSON.parse(sent);
    if (method === "initialize") session += 1;
    if (id === undefined) return void response.writeHead(request.method === "POST" ? 202 : 405).end();
    seen.push(`${method} ${session}`);
    if (method === "tools/call" && session <= sessions) return void response.writeHead(status).end(body);
    const description = isChanging ? `Works in session ${session}.` : "Works.";
    const result = {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: "web", version: "1" },
      tools: [{ name: "work", description, inputSchema: { type: "object" } }],
      content: [{ type: "text", text: `done in ${session}` }],
    };
    response.writeHead(200, {
      "content-type": "application/json",
      ...(!isStateless && { "mcp-session-id": `s${session}` }),
    });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  const { registry } = await mounted({ web: { url: `${origin}/mcp` } });
  return { seen, call: () => registry.execute("mcp__web__work", {}) };
}

const rpc = (message: string): string =>
  JSON.stringify({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null });

test.each([
  [404, "Session not found"],
  [404, ""],
  [400, rpc("Bad Request: No valid session ID provided")],
  [400, rpc("Bad Request: Mcp-Session-Id header is required")],
  [400, "Invalid or expired session"],
  [400, '{"error":"unknown session_id"}'],
  [400, rpc("Bad Request: Server not initialized: the session does not exist")],
])("a session lost with %i %s begins anew once: the list is compared, the call repeated", async (status, body) => {
  const { seen, call } = await open({ status, body, sessions: 1 });
  expect(await call()).toBe("done in 2");
  const before = ["initialize 1", "tools/list 1", "tools/call 1"];
  expect(seen).toEqual([...before, "initialize 2", "tools/list 2", "tools/call 2"]);
});

test("a tool that has changed with the session is refused, and its call is not repeated", async () => {
  const { seen, call } = await open({ status: 400, body: "Invalid session", sessions: 1 }, true);
  expect(await call()).toMatch(/has changed since it was accepted/);
  expect(seen.at(-1)).toBe("tools/list 2");
});

test("a session that is lost again ends the call in words", async () => {
  const { seen, call } = await open({ status: 404, body: "", sessions: 9 });
  expect(await call()).toContain("MCP server web does not know the session any more");
  expect(seen.filter((what) => what.startsWith("tools/call"))).toHaveLength(2);
});

test.each([
  [400, rpc("Bad Request: the date is invalid"), false],
  [400, rpc("cannot book a session on a holiday"), false],
  [400, rpc("Unknown session of the parliament"), true],
  [500, "Session not found", false],
  [409, "Invalid session", false],
])("any other refusal, %i %s, is told and not repeated (stateless: %s)", async (status, body, isStateless) => {
  const { seen, call } = await open({ status, body, sessions: 1, isStateless });
  expect(await call()).toMatch(/^Error executing mcp__web__work: /);
  expect(seen.filter((what) => what.startsWith("tools/call"))).toEqual(["tools/call 1"]);
});
