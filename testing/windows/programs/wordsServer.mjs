// A server of MCP over stdio with one tool, which gives the words that the server was started with.
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { serveMcp } from "@toolcrib/mcp";

const words = defineTool({
  name: "words",
  description: "Gives the words that this server was started with.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  execute: () => JSON.stringify(process.argv.slice(2)),
});
await serveMcp(new ToolRegistry([words]));
