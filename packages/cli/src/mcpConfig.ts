import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { createPathScope, writeAtomically } from "@toolcrib/core/files";
import type { McpConfig, McpServerConfig } from "@toolcrib/mcp";
import { usageError } from "./endings.ts";
import { parseJson } from "./jsonText.ts";

export const mcpConfigName = ".mcp.json";

/** A `.mcp.json` with whatever else is in it. */
export interface McpConfigFile extends McpConfig {
  [other: string]: unknown;
}

/** Reads `.mcp.json` of a directory; without one there are no servers. Throws a usage error for what is no such JSON. */
export async function readMcpConfig(directory: string): Promise<McpConfigFile> {
  let text: string;
  try {
    text = await readFile(join(directory, mcpConfigName), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { mcpServers: {} };
    throw error;
  }
  const config = parseJson(text, mcpConfigName);
  if (isObject(config)) {
    const { mcpServers = {} } = config;
    if (isObject(mcpServers)) return { ...config, mcpServers: mcpServers as Record<string, McpServerConfig> };
  }
  throw usageError(`${mcpConfigName}: expected { "mcpServers": { NAME: … } }; mend it or move it away`);
}

export async function writeMcpConfig(directory: string, config: McpConfigFile): Promise<void> {
  const scope = createPathScope({ root: directory, cwd: directory });
  const path = await scope.resolve(mcpConfigName);
  await writeAtomically(path, `${JSON.stringify(config, null, 2)}\n`, { scope });
}

/** Where the tools of a directory's servers are kept as accepted: outside of it, for it may be somebody else's. */
export function toolStorePath(directory: string, env: NodeJS.ProcessEnv): string {
  const state =
    env.XDG_STATE_HOME || (process.platform === "win32" && env.LOCALAPPDATA) || join(homedir(), ".local", "state");
  const name = createHash("sha256").update(directory).digest("hex").slice(0, 16);
  return join(state, "toolcrib", "mcp", `${name}.json`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
