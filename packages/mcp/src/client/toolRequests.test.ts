import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { mounted, serveLoopback } from "../../fixtures/mounting.ts";

interface Sent {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly cursor?: string; readonly protocolVersion?: string; readonly reason?: string };
}

const capabilities = { tools: {}, resources: {}, prompts: {} };
const tool = (name: string): object => ({ name, inputSchema: { type: "object" } });

/** The entry of a server that lists what `list` says, answers no other request, and what it is sent. */
async function serving(list: (cursor: string | undefined) => object) {
  const sent: Sent[] = [];
  const origin = await serveLoopback(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message: Sent = JSON.parse(await text(request));
    sent.push(message);
    if (message.id === undefined) return void response.writeHead(202).end();
    const { method, id, params: { cursor, protocolVersion } = {} } = message;
    const about = { protocolVersion, capabilities, serverInfo: { name: "s", version: "1" } };
    const result = method === "initialize" ? about : method === "tools/list" ? list(cursor) : undefined;
    if (!result) return;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  return { entry: { url: `${origin}/mcp` }, sent };
}

test.each([
  ["a call", "mcp__s__go", {}],
  ["a reading of a resource", "read_resource", { server: "s", uri: "a:b" }],
])("%s that is called off tells the server of the end, and nothing of why", async (_, name, args) => {
  const { entry, sent } = await serving(() => ({ tools: [tool("go")] }));
  const { mount, registry } = await mounted({ s: entry }, { resources: true });
  for (const one of mount.tools) if (!registry.hasTool(one.name)) registry.register(one);
  for (const end of ["before", "during"]) {
    const controller = new AbortController();
    const stop = () => controller.abort(new Error("the connector acme was revoked"));
    if (end === "before") stop();
    const running = registry.invoke(name, args, { signal: controller.signal });
    const before = sent.length;
    if (end === "during") {
      await expect.poll(() => sent.length).toBeGreaterThan(before);
      stop();
    }
    expect(await running).toMatchObject({ ok: false, error: { code: "aborted" } });
  }
  await expect.poll(() => sent.at(-1)?.method).toBe("notifications/cancelled");
  expect(JSON.stringify(sent)).not.toContain("acme");
});

test.each<[string, (cursor: string | undefined) => string]>([
  ["the same", () => "same"],
  ["one of two in turn", (cursor) => (cursor === "a" ? "b" : "a")],
  ["a new one for what it has listed before", (cursor = "0") => String(Number(cursor) + 1)],
])("a list whose next page is always %s ends, and each tool is mounted once", async (_, next) => {
  const { entry, sent } = await serving((cursor) => ({ tools: [tool("a"), tool("b")], nextCursor: next(cursor) }));
  const { mount } = await mounted({ s: entry });
  expect(mount.tools.map(({ name }) => name)).toEqual(["mcp__s__a", "mcp__s__b"]);
  expect(sent.filter(({ method }) => method === "tools/list").length).toBeLessThan(5);
});
