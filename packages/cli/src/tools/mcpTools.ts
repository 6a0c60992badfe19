import type { ExecutableTool } from "@toolcrib/core";
import { hasServers } from "../config/applyConfig.ts";
import { usageError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import type { McpFlag } from "../sharedFlags.ts";
import { type Asker, terminalAsker } from "../terminal/ask.ts";
import type { WatchedMount } from "./mcpMount.ts";

/** Runs `task` with the tools of the servers where `--mcp` is given, and ends the servers. */
export async function withServerTools<Result>(
  { mcp, protocol }: McpFlag,
  program: Program,
  task: (tools: readonly ExecutableTool[] | undefined) => Result | Promise<Result>,
): Promise<Result> {
  const mount = await mountFor({ mcp, protocol }, program, terminalAsker(program));
  try {
    return await task(mount?.tools);
  } finally {
    await mount?.close();
  }
}

/** Mounts servers for a conversation: with `--mcp` all, and else those that the user has allowed, where they are used. */
export async function mountFor(
  { mcp, protocol, usesAllowedServers = false }: McpFlag & { readonly usesAllowedServers?: boolean | undefined },
  program: Program,
  asker: Asker | undefined,
): Promise<WatchedMount | undefined> {
  if (!mcp && !usesAllowedServers && protocol !== undefined) throw usageError("--protocol is for --mcp; give both");
  const isOffered = mcp ?? (usesAllowedServers && hasServers(program));
  if (!isOffered) return undefined;
  const { mount, mountAllowedServers, startableServers, withProtocol } = await import("./mcpMount.ts");
  if (!mcp) return mountAllowedServers(program, protocol);
  return mount(withProtocol(await startableServers(program, asker, "--mcp: "), protocol), program);
}
