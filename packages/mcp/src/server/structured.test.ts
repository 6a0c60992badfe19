import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { defineTool, ToolRegistry, toolOutput } from "@toolcrib/core";
import { expect, onTestFinished, test } from "vitest";
import { mounted } from "../../fixtures/mounting.ts";
import { connected, served } from "../../fixtures/serving.ts";
import { createProtocolServer } from "./protocolServer.ts";
import { RegistriesByRoots } from "./registriesByRoots.ts";
import type { ServeMcpOptions } from "./serveMcp.ts";

function counting(): ToolRegistry {
  const none = { type: "object", properties: {} } as const;
  const outputSchema = { type: "object", properties: { files: { type: "integer" } }, required: ["files"] } as const;
  const tool = (name: string, files: number, text = "three files") =>
    defineTool({
      name,
      description: "Counts.",
      parameters: none,
      outputSchema,
      execute: () => toolOutput(text, { data: { files } }),
    });
  const large = defineTool({
    name: "large",
    description: "Has more data than a result carries.",
    parameters: none,
    outputSchema: { type: "object", properties: { all: { type: "string" } }, required: ["all"] },
    execute: () => toolOutput("all of it", { data: { all: "x".repeat(300_000) } }),
  });
  const plain = defineTool({ name: "plain", description: "Has none.", parameters: none, execute: () => "text" });
  return new ToolRegistry([tool("count", 3), large, plain]);
}

async function serve(options: ServeMcpOptions, registry = counting()): Promise<{ url: string; client: Client }> {
  const serving = await served(registry, options);
  return { url: String(serving.url), client: await connected(serving) };
}

test("with structured, results carry data and the listing its schema", async () => {
  const { client } = await serve({ structured: true });
  const [count] = (await client.listTools()).tools;
  expect(count?.outputSchema).toEqual({ type: "object", properties: { files: { type: "integer" } } });
  const result = await client.callTool({ name: "count" });
  expect(result).toMatchObject({ content: [{ type: "text", text: "three files" }], structuredContent: { files: 3 } });
});

test("data that is too large is left out, and a client that checks results still takes them", async () => {
  const { client } = await serve({ structured: true });
  await client.listTools();
  const result = await client.callTool({ name: "large" });
  expect(result).toMatchObject({ content: [{ text: "all of it" }], structuredContent: {} });
});

test("a result fits the schema that the client has listed, also of a tool that was replaced since", async () => {
  const registry = counting();
  const { client } = await serve({ structured: true }, registry);
  await client.listTools();
  registry.unregister("large");
  const none = { type: "object", properties: {} } as const;
  registry.register(defineTool({ name: "large", description: "Has none.", parameters: none, execute: () => "text" }));
  expect(await client.callTool({ name: "large" })).toMatchObject({
    content: [{ text: "text" }],
    structuredContent: {},
  });
});

test("a server made for one request holds to the schema that it would list", async () => {
  const registries = new RegistriesByRoots(counting());
  const offer = { name: "test", version: "1", structured: true };
  const handler = createMcpHandler(() => createProtocolServer(registries, offer), { legacy: "reject" });
  const client = new Client(offer, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const fetch = (url: string | URL, init?: RequestInit): Promise<Response> => handler.fetch(new Request(url, init));
  await client.connect(new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch }));
  onTestFinished(() => client.close());
  await client.listTools();
  expect(await client.callTool({ name: "large" })).toMatchObject({ structuredContent: {} });
});

test("a tool without a schema and data has a text alone, which no client can take for empty data", async () => {
  const { client } = await serve({ structured: true });
  const result = await client.callTool({ name: "plain" });
  expect(result).toMatchObject({ content: [{ text: "text" }] });
  expect(result).not.toHaveProperty("structuredContent");
});

test("without structured, neither is there", async () => {
  const { client } = await serve({});
  expect((await client.listTools()).tools[0]).not.toHaveProperty("outputSchema");
  expect(await client.callTool({ name: "count" })).not.toHaveProperty("structuredContent");
});

test("a mounted tool gives the structured content of its server as data, and to the model where the text does not show it", async () => {
  const { url } = await serve({ structured: true });
  const { registry } = await mounted({ counter: { url } });
  expect(await registry.invoke("mcp__counter__count")).toMatchObject({
    ok: true,
    output: 'three files\n{"files":3}',
    data: { files: 3 },
  });
});
