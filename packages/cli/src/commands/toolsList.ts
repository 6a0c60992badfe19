import type { Ending } from "../endings.ts";
import type { Program } from "../program.ts";
import { oneLine } from "../terminal/render.ts";
import { createToolSet, type ToolFlags } from "../tools/toolSet.ts";

/** `toolcrib tools list`: a line a tool, or as JSON all that is known of each. */
export function toolsList(flags: ToolFlags & { readonly json?: boolean | undefined }, program: Program): Ending {
  const { terminal, leftovers } = program;
  const listing = createToolSet(flags, leftovers).listTools();
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
    terminal.note(
      terminal.style.dim(`Switch one on with --enable ${off[0]}; try one with: toolcrib tools call list_dir --path .`),
    );
  return "ok";
}
