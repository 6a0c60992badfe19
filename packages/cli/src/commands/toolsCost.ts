import { charactersPerToken, estimateTokens } from "@toolcrib/contracts";
import type { ExitReason } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { addMcpFlag, addToolFlags } from "../tools/flags.ts";
import { type McpFlag, withServerTools } from "../tools/mcpTools.ts";
import { createPermissions } from "../tools/permissions.ts";
import { connectRemote } from "../tools/remote.ts";
import { createToolSet, rootsOf, type ToolFlags } from "../tools/toolSet.ts";
import type { DefineCommand } from "./defineCommand.ts";

interface ToolsCostFlags extends ToolFlags, McpFlag {
  readonly json?: boolean | undefined;
}

/** `toolcrib tools cost`: what the schemas of the tools take of each request. */
export const define: DefineCommand = (command, action) =>
  addMcpFlag(addToolFlags(command)).option("--json", "as JSON").action(action(toolsCost));

async function toolsCost(program: Program, given: ToolsCostFlags): Promise<ExitReason> {
  const { terminal } = program;
  const flags = await connectRemote(given, program);
  const permissions = createPermissions({}, rootsOf(flags), program, "ask");
  return withServerTools(flags, program, (more) => {
    const registry = createToolSet(flags, permissions, program, { more });
    const tools = registry
      .listTools()
      .map((listing) => ({ name: listing.name, enabled: listing.enabled, tokens: estimateTokens(listing) }));
    const total = tools.reduce((sum, { enabled, tokens }) => sum + (enabled ? tokens : 0), 0);
    if (flags.json) {
      terminal.data(`${JSON.stringify({ estimated: true, total, tools }, null, 2)}\n`);
      return "ok";
    }
    for (const { name, enabled, tokens } of tools) {
      terminal.show(`${String(tokens).padStart(7)}  ${enabled ? "on " : "off"}  ${name}\n`);
    }
    terminal.show(`${String(total).padStart(7)}  of each request, by the tools that are on\n`);
    terminal.aside(
      `Tokens, estimated: one for ${charactersPerToken} characters of JSON. Each model counts differently.`,
    );
    return "ok";
  });
}
