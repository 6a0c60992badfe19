// Serves one tool over MCP HTTP on loopback: ours, or the SDK's own server and adapter with the validator that ours has.
import { createServer } from "node:http";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { serveMcp } from "@toolcrib/mcp";
import { answer } from "../pairs.mjs";
import { importPeer, installPeer } from "../peers.mjs";

const parameters = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
  additionalProperties: false,
};
const add = ({ a, b }) => String(a + b);

const cases = {
  async ours() {
    const registry = new ToolRegistry([defineTool({ name: "add", description: "Adds.", parameters, execute: add })]);
    return (await serveMcp(registry, { http: { auth: false } })).url;
  },
  async sdk() {
    const home = installPeer("mcp-sdk");
    const { createMcpHandler, fromJsonSchema, McpServer } = await importPeer(home, "@modelcontextprotocol/server");
    const { CfWorkerJsonSchemaValidator } = await importPeer(home, "@modelcontextprotocol/server/validators/cf-worker");
    const { toNodeHandler } = await importPeer(home, "@modelcontextprotocol/node");
    const inputSchema = fromJsonSchema(parameters, new CfWorkerJsonSchemaValidator());
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: "adder", version: "1.0.0" });
      server.registerTool("add", { description: "Adds.", inputSchema }, (args) => ({
        content: [{ type: "text", text: add(args) }],
      }));
      return server;
    });
    const http = createServer(toNodeHandler(handler));
    await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${http.address().port}/mcp`;
  },
};

const url = await cases[process.argv[2]]();
answer(async () => ({ count: 0, url }));
