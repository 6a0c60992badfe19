import type { ExecutableTool } from "@toolcrib/core";
import type { Program } from "../program.ts";
import type { McpFlag } from "../sharedFlags.ts";
import { terminalAsker } from "../terminal/ask.ts";

/** Runs `task` with the tools of the servers where `--mcp` is given, and ends the servers. */
export async function withServerTools<Result>(
  { mcp }: McpFlag,
  program: Program,
  task: (tools: readonly ExecutableTool[] | undefined) => Result | Promise<Result>,
): Promise<Result> {
  if (!mcp) return task(undefined);
  const { mountServers } = await import("./mcpMount.ts");
  const mount = await mountServers(program, terminalAsker(program));
  try {
    return await task(mount.tools);
  } finally {
    await mount.close();
  }
}
