import type { McpConfig, McpServerConfig } from "../client/serverConfig.ts";

/** The user's own servers and those of a project, as one configuration. */
export interface JoinedServers {
  readonly config: McpConfig;
  /** Servers of the user that a project's server of the same name stands in for: tell the user. */
  readonly replaced: readonly string[];
}

/**
 * Joins the user's own servers with those of a project that the user has allowed. What is disabled is left out, so that a project cannot
 * switch off a server of the user.
 */
export function joinServers(user: McpConfig, allowed: McpConfig): JoinedServers {
  const [own, theirs] = [enabled(user), enabled(allowed)];
  return {
    config: { mcpServers: { ...own, ...theirs } },
    replaced: Object.keys(own).filter((name) => Object.hasOwn(theirs, name)),
  };
}

function enabled({ mcpServers }: McpConfig): Record<string, McpServerConfig> {
  return Object.fromEntries(Object.entries(mcpServers).filter(([, { disabled }]) => disabled !== true));
}
