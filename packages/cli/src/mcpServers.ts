import { nearestName } from "@toolcrib/core";
import type { McpServerConfig } from "@toolcrib/mcp";
import { type Ending, usageError } from "./endings.ts";
import { type McpConfigFile, mcpConfigName, readMcpConfig, writeMcpConfig } from "./mcpConfig.ts";
import type { Program } from "./program.ts";
import { oneLine } from "./render.ts";

export interface McpAddFlags {
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly cwd?: string;
}

/** `toolcrib mcp add` */
export async function mcpAdd(
  name: string,
  target: readonly string[],
  flags: McpAddFlags,
  { terminal }: Program,
): Promise<Ending> {
  if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) {
    throw usageError(`${name}: a server's name is made of letters, digits, _, . and -`);
  }
  const config = await readMcpConfig(process.cwd());
  if (Object.hasOwn(config.mcpServers, name)) {
    throw usageError(`${name} is in ${mcpConfigName} already; toolcrib mcp remove ${name} takes it out`);
  }
  const mcpServers = { ...config.mcpServers, [name]: serverOf(target, flags) };
  await writeMcpConfig(process.cwd(), { ...config, mcpServers });
  terminal.note(`Added ${name} to ${mcpConfigName}; try it with: toolcrib mcp test ${name}`);
  return "ok";
}

function serverOf(
  [target = "", ...args]: readonly string[],
  { env = [], header = [], cwd }: McpAddFlags,
): McpServerConfig {
  if (!/^https?:\/\//.test(target)) {
    if (header.length > 0) throw usageError("--header is for the address of a server, not for a command");
    const variables = pairs("--env", env, "=", "NAME=value");
    return {
      command: target,
      args,
      ...(env.length > 0 && { env: variables }),
      ...(cwd !== undefined && { cwd }),
    };
  }
  if (!URL.canParse(target)) throw usageError(`${target}: this is no address`);
  if (args.length > 0) throw usageError(`${args[0]}: an address takes no arguments`);
  if (env.length > 0 || cwd !== undefined) throw usageError("--env and --cwd are for a command, not for an address");
  const headers = pairs("--header", header, ":", "Name: value");
  return { type: "http", url: target, ...(header.length > 0 && { headers }) };
}

function pairs(flag: string, given: readonly string[], separator: string, form: string): Record<string, string> {
  return Object.fromEntries(
    given.map((pair) => {
      const at = pair.indexOf(separator);
      if (at < 1) throw usageError(`${flag} ${pair}: expected ${form}`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}

/** `toolcrib mcp list`: a line a server. The values of variables and headers are not shown. */
export async function mcpList({ json }: { json?: boolean }, { terminal }: Program): Promise<Ending> {
  const { mcpServers } = await readMcpConfig(process.cwd());
  if (json) {
    terminal.data(`${JSON.stringify({ mcpServers }, null, 2)}\n`);
    return "ok";
  }
  const names = Object.keys(mcpServers);
  if (names.length === 0) terminal.note(`No servers in ${mcpConfigName}; add one with: toolcrib mcp add NAME COMMAND`);
  const { bold, dim } = terminal.dataStyle;
  const width = Math.max(...names.map((name) => name.length));
  for (const [name, server] of Object.entries(mcpServers)) {
    const what = "url" in server ? server.url : [server.command, ...(server.args ?? [])].join(" ");
    const off = server.disabled ? dim(" (disabled)") : "";
    terminal.show(`${bold(oneLine(name, 64))}${" ".repeat(width - name.length)}  ${oneLine(what, 200)}${off}\n`);
  }
  return "ok";
}

/** `toolcrib mcp remove` */
export async function mcpRemove(name: string, { terminal }: Program): Promise<Ending> {
  const config = await readMcpConfig(process.cwd());
  requireServer(config, name);
  const { [name]: _, ...mcpServers } = config.mcpServers;
  await writeMcpConfig(process.cwd(), { ...config, mcpServers });
  terminal.note(`Removed ${name} from ${mcpConfigName}`);
  return "ok";
}

/** Throws a usage error for a server that is not in the configuration. */
export function requireServer({ mcpServers }: McpConfigFile, name: string): void {
  if (Object.hasOwn(mcpServers, name)) return;
  const names = Object.keys(mcpServers);
  const nearest = nearestName(name, names);
  const known = names.length > 0 ? `there are ${names.join(", ")}` : "there are none";
  throw usageError(`${name} is not in ${mcpConfigName}; ${nearest ? `did you mean ${nearest}?` : known}`);
}
