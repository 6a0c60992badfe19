import type { ExitReason } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { oneLine } from "../terminal/render.ts";
import { addPermissionFlags, addToolFlags } from "../tools/flags.ts";
import { createPermissions, type PermissionFlags } from "../tools/permissions.ts";
import { connectRemote } from "../tools/remote.ts";
import { createToolSet, rootsOf, type ToolFlags, unknownTool } from "../tools/toolSet.ts";
import type { DefineCommand } from "./defineCommand.ts";
import { argumentsFrom } from "./toolsCall.ts";

type ExplainFlags = ToolFlags & PermissionFlags & { readonly json?: boolean | undefined };

/** `toolcrib permissions explain TOOL …`: what would be decided about a call, and why. Runs nothing. */
export const define: DefineCommand = (command, action) =>
  addPermissionFlags(addToolFlags(command), "ask")
    .usage("[options] TOOL ['{\"arg\": …}' | @FILE | --arg value …]")
    .argument("<tool>", "the tool, as tools list names it")
    .argument("[arguments...]", "its arguments, as for tools call; for run_bash also just the command")
    .option("--json", "print the explanation as JSON")
    .allowUnknownOption()
    .action(action(permissionsExplain));

async function permissionsExplain(
  program: Program,
  name: string,
  words: readonly string[],
  given: ExplainFlags,
): Promise<ExitReason> {
  const { terminal } = program;
  const flags = await connectRemote(given, program);
  const permissions = createPermissions(flags, rootsOf(flags), program, "ask");
  const registry = createToolSet(flags, permissions, program);
  const tool = registry.get(name);
  const listing = registry.listTools().find((one) => one.name === name);
  if (!tool || !listing) throw unknownTool(`permissions explain ${name}`, name, registry);
  const [command = ""] = words;
  const isCommand = name === "run_bash" && words.length === 1 && !/^[-{@]/.test(command);
  const args = isCommand ? { command } : ((await argumentsFrom(words, listing)) as Record<string, unknown>);
  const explanation = await permissions.policy.explain({ name, args, tool });
  if (flags.json) {
    terminal.data(`${JSON.stringify(explanation, null, 2)}\n`);
    return "ok";
  }
  const { text, parts } = explanation;
  terminal.show(`${oneLine(text, 1000)}\n`);
  for (const { decision, what, why } of parts.length > 1 ? parts : []) {
    terminal.show(`  ${decision.padEnd(5)} ${oneLine(`${what}; ${why}`, 300)}\n`);
  }
  if (!listing.enabled) terminal.aside(`${name} is off unless you pass --enable ${name}.`);
  return "ok";
}
