import type { ExitReason } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { oneLine } from "../terminal/render.ts";
import { addMcpFlag, addToolFlags } from "../tools/flags.ts";
import { type McpFlag, withServerTools } from "../tools/mcpTools.ts";
import { createPermissions } from "../tools/permissions.ts";
import { connectRemote } from "../tools/remote.ts";
import { createToolSet, rootsOf, type ToolFlags } from "../tools/toolSet.ts";
import type { DefineCommand } from "./defineCommand.ts";

/** `toolcrib tools list`: one line for each tool, or all about each as JSON. */
export const define: DefineCommand = (command, action) =>
  addMcpFlag(addToolFlags(command))
    .option("--json", "with descriptions and parameter schemas, as JSON")
    .action(action(toolsList));

interface ToolsListFlags extends ToolFlags, McpFlag {
  readonly json?: boolean | undefined;
}

async function toolsList(program: Program, given: ToolsListFlags): Promise<ExitReason> {
  const { terminal } = program;
  const flags = await connectRemote(given, program);
  const permissions = createPermissions({}, rootsOf(flags), program, "ask");
  const listing = await withServerTools(flags, program, (more) =>
    createToolSet(flags, permissions, program, { more }).listTools(),
  );
  if (flags.json) {
    terminal.data(`${JSON.stringify(listing, null, 2)}\n`);
    return "ok";
  }
  const { bold, dim, green } = terminal.dataStyle;
  const width = Math.max(...listing.map((tool) => tool.name.length));
  for (const { name, description, enabled } of listing) {
    const first = /^.*?[.:](?=\s+\p{Lu}|$)/su.exec(description)?.[0] ?? description;
    terminal.show(
      `${enabled ? green("on ") : dim("off")}  ${bold(name)}${" ".repeat(width - name.length)}  ${dim(oneLine(first, 200))}\n`,
    );
  }
  const off = listing.filter((tool) => !tool.enabled).map((tool) => tool.name);
  if (off.length > 0)
    terminal.aside(`Switch one on with --enable ${off[0]}; try one with: toolcrib tools call list_dir --path .`);
  return "ok";
}
