import { type Environment, type McpServerConfig, resolveServer } from "../client/serverConfig.ts";

/**
 * Returns the address of an entry, its variables filled in; undefined for an entry that starts a process. Throws an McpError
 * (`invalid_config`).
 */
export function serverAddress(
  name: string,
  entry: McpServerConfig,
  environment: Environment = process.env,
): { readonly url: URL; readonly headers: Readonly<Record<string, string>> } | undefined {
  const target = resolveServer(name, entry, environment);
  return target.kind === "url" ? { url: target.url, headers: target.headers } : undefined;
}
