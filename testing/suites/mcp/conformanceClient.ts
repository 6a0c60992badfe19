// Mounts the server whose address comes last and does what the scenario of the MCP conformance suite asks for.
import { ToolRegistry } from "@toolcrib/core";
import { mountMcp } from "@toolcrib/mcp";

const url = process.argv.at(-1) ?? "";
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const modern = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === "2026-07-28";
const { toolCalls = [] } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as {
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
};

const mount = await mountMcp(
  { mcpServers: { test: { url } } },
  modern ? { versionNegotiation: { pin: "2026-07-28" } } : {},
);
for (const problem of mount.problems) console.error(problem.message);
const registry = new ToolRegistry();
for (const tool of mount.tools) registry.register(tool);
const call = async (name: string, args: Record<string, unknown>): Promise<void> =>
  console.error(name, await registry.execute(`mcp__test__${name}`, args));

const calls: Record<string, [name: string, args: Record<string, unknown>][]> = {
  tools_call: [["add_numbers", { a: 5, b: 3 }]],
  "sse-retry": [["test_reconnection", {}]],
};
for (const [name, args] of calls[scenario] ?? []) await call(name, args);
for (const { name, arguments: args } of toolCalls) await call(name, args);
if (registry.hasTool("mcp__test__valid_tool")) await call("valid_tool", { region: "us-west1" });
if (registry.hasTool("mcp__test__json_schema_echo")) {
  // The suite checks the schema that the client got, including its references.
  for (const { name, parameters } of registry.listTools()) {
    if (name !== "mcp__test__json_schema_echo") await call("json_schema_echo", { schema: parameters });
  }
}
await mount.close();
process.exit(mount.problems.some(({ code }) => code === "server_failed") ? 1 : 0);
