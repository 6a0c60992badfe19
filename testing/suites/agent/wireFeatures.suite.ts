import { fileURLToPath } from "node:url";
import { type McpMount, mountMcp } from "@toolcrib/mcp";
import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import { testFeatures } from "@toolcrib/testing-agent/wireFeatures";
import { wireServices } from "@toolcrib/testing-agent/wireServices";
import { afterAll } from "vitest";

/** MCP servers by what their tool says, which all services share. */
const mounts = new Map<string, Promise<McpMount>>();
afterAll(async () => {
  for (const mounted of mounts.values()) await (await mounted).close();
});

// `npm test` asks the services of every day, and no MCP server.
testFeatures(await sharedWireServer(), wireServices, async (description) => {
  const program = fileURLToPath(new URL("../../../packages/mcp/fixtures/oddServer.mjs", import.meta.url));
  const config = { mcpServers: { odd: { command: process.execPath, args: [program, description] } } };
  const mounted = mounts.get(description) ?? mountMcp(config);
  mounts.set(description, mounted);
  return (await mounted).tools;
});
