import { charactersPerToken, estimateTokens } from "@toolcrib/contracts";
import type { ToolListing } from "@toolcrib/core";
import { oneLine } from "@toolcrib/core/internal";
import type { ExitReason } from "../exitReasons.ts";
import type { FlagsOf } from "../flags.ts";
import type { Program } from "../program.ts";
import { mcpFlag, toolFlags } from "../sharedFlags.ts";
import { withServerTools } from "../tools/mcpTools.ts";
import { createPermissions } from "../tools/permissions.ts";
import { withPrograms } from "../tools/programs.ts";
import { connectRemote } from "../tools/remote.ts";
import { createToolSet, rootsOf } from "../tools/toolSet.ts";
import { type DefineCommand, defineCommand } from "./defineCommand.ts";

const flags = {
  ...toolFlags,
  ...mcpFlag,
  json: { usage: "--json", about: "everything, as JSON" },
} as const;

/** `toolcrib tools list`: one line for each tool, or all about each as JSON. */
export const list: DefineCommand = defineCommand({
  flags,
  async run(program, given): Promise<ExitReason> {
    const { terminal } = program;
    const listing = await listed(program, given);
    if (given.json) {
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
    if (listing.some((tool) => !tool.enabled))
      terminal.aside("Switch one on with --enable NAME; try one with: toolcrib tools call list_dir --path .");
    return "ok";
  },
});

/** `toolcrib tools cost`: what the schemas of the tools take of each request. */
export const cost: DefineCommand = defineCommand({
  flags,
  async run(program, given): Promise<ExitReason> {
    const { terminal } = program;
    const tools = (await listed(program, given)).map((listing) => ({
      name: listing.name,
      enabled: listing.enabled,
      tokens: estimateTokens(listing),
    }));
    const total = tools.reduce((sum, { enabled, tokens }) => sum + (enabled ? tokens : 0), 0);
    if (given.json) {
      terminal.data(`${JSON.stringify({ estimated: true, total, tools }, null, 2)}\n`);
      return "ok";
    }
    for (const { name, enabled, tokens } of tools)
      terminal.show(`${String(tokens).padStart(7)}  ${enabled ? "on " : "off"}  ${name}\n`);
    terminal.show(`${String(total).padStart(7)}  of each request, by the tools that are on\n`);
    terminal.aside(
      `Tokens, estimated: one for ${charactersPerToken} characters of JSON. Each model counts differently.`,
    );
    return "ok";
  },
});

async function listed(program: Program, given: FlagsOf<typeof flags>): Promise<ToolListing[]> {
  const where = await connectRemote(await withPrograms(given), program);
  const permissions = createPermissions({}, rootsOf(where, program.cwd), program, "ask");
  return withServerTools(where, program, (more) => createToolSet(where, permissions, program, { more }).listTools());
}
