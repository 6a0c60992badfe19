import type { McpServerCheck } from "../client/checkServer.ts";
import type { MountMcpOptions } from "../client/mountMcp.ts";
import type { McpConfig } from "../client/serverConfig.ts";
import { shownName } from "../errors.ts";
import { mcpConfigName } from "./configFile.ts";
import type { McpConsents } from "./consents.ts";
import { joinServers } from "./joinServers.ts";

export interface CheckServersOptions extends MountMcpOptions {
  /** The user's own servers. */
  readonly user?: McpConfig | undefined;
  /** The entries of the project that the user has allowed. */
  readonly consents: McpConsents;
}

/**
 * Looks at the user's servers and those of a project, all at once. Nobody is asked: a server of the project that the user has not allowed
 * is not started, and its check, without a problem of the server, says so.
 */
export async function checkServers(
  project: McpConfig,
  { user = { mcpServers: {} }, consents, ...options }: CheckServersOptions,
): Promise<McpServerCheck[]> {
  // Loaded here: what only reads a file needs no client.
  const { checkServer } = await import("../client/checkServer.ts");
  const known = await consents.read(project);
  const enabled = Object.entries(project.mcpServers).filter(([, { disabled }]) => disabled !== true);
  const allowed = enabled.filter(([name]) => known.get(name) === "allowed");
  const waiting = enabled.filter(([name]) => known.get(name) !== "allowed");
  const { config } = joinServers(user, { mcpServers: Object.fromEntries(allowed) });
  const checks = Object.entries(config.mcpServers).map(([name, entry]) => checkServer(name, entry, options));
  return [...(await Promise.all(checks)), ...waiting.map(([name]) => notAllowed(name))];
}

function notAllowed(server: string): McpServerCheck {
  const name = shownName(server);
  // A stranger may have chosen it: a command to copy has only a plain one.
  const word = /^[\w.-]{1,64}$/.test(server) ? server : "NAME";
  return {
    server,
    isOk: false,
    tools: [],
    problems: [],
    text: `${name} of ${mcpConfigName} is not allowed to start with its present entry`,
    advice: `toolcrib mcp list shows it, toolcrib mcp allow ${word} allows it`,
  };
}
