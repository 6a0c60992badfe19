import { fileToolStore, type McpMount, type McpToolStore, mountMcp } from "@toolcrib/mcp";
import { projectConfigFile } from "@toolcrib/mcp/config";
import { usageError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { makeStateFolder, stateName } from "../state/stateFolder.ts";
import type { Asker } from "./approval.ts";
import { allowedServers } from "./mcpConsent.ts";

/** The servers in `.mcp.json` as tools, for `--mcp`: those that the user has allowed to start, or allows now. */
export async function mountServers(program: Program, asker: Asker | undefined): Promise<McpMount> {
  const { terminal, env } = program;
  const file = projectConfigFile(process.cwd());
  const config = await file.read();
  if (Object.keys(config.mcpServers).length === 0) {
    throw usageError(`--mcp: no servers in ${file.name}; add one with: toolcrib mcp add NAME COMMAND`);
  }
  const allowed = await allowedServers(config, program, asker);
  const mount = await mountMcp(allowed, { store: ownToolStore(process.cwd(), program), environment: env });
  for (const { message, code } of mount.problems) {
    const advice = code === "tool_changed" ? "; toolcrib mcp test --accept takes the change" : "";
    terminal.note(terminal.style.dim(`${message}${advice}`));
  }
  return mount;
}

/** Where the tools of a directory's servers are kept as accepted; undefined, with a note, where nothing can be kept. */
export function ownToolStore(directory: string, { env, terminal }: Program): McpToolStore | undefined {
  try {
    return fileToolStore(`${makeStateFolder(env, "mcp")}/${stateName(directory)}.json`);
  } catch (error) {
    terminal.note(terminal.style.dim(`What the servers' tools are cannot be kept: ${(error as Error).message}`));
    return undefined;
  }
}
