import { withoutControls } from "@toolcrib/core/text";
import { fileToolStore, type McpMount, mountMcp } from "@toolcrib/mcp";
import { usageError } from "./endings.ts";
import { mcpConfigName, readMcpConfig, toolStorePath } from "./mcpConfig.ts";
import type { Program } from "./program.ts";

/** The servers in `.mcp.json` as tools, for `--mcp`: the flag is the user's word that their commands may be started. */
export async function mountServers({ terminal, env }: Program): Promise<McpMount> {
  const config = await readMcpConfig(process.cwd());
  if (Object.keys(config.mcpServers).length === 0) {
    throw usageError(`--mcp: no servers in ${mcpConfigName}; add one with: toolcrib mcp add NAME COMMAND`);
  }
  const store = fileToolStore(toolStorePath(process.cwd(), env));
  const mount = await mountMcp(config, { store, environment: env });
  for (const { message, code } of mount.problems) {
    const advice = code === "tool_changed" ? "; toolcrib mcp test --accept takes the change" : "";
    terminal.note(terminal.style.dim(`${withoutControls(message)}${advice}`));
  }
  return mount;
}
