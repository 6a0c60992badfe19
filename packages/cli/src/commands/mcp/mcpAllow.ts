import type { ExitReason } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import { readMcpConfig, requireServer } from "../../tools/mcpConfig.ts";
import { saveConsents } from "../../tools/mcpConsent.ts";
import { describeServer } from "../../tools/mcpDescribe.ts";
import type { DefineCommand } from "../defineCommand.ts";

/** `toolcrib mcp allow`: the servers of this folder may start as `.mcp.json` has them now. */
export const define: DefineCommand = (command, action) =>
  command.argument("<names...>", "the servers, as mcp list names them").action(action(mcpAllow));

async function mcpAllow({ terminal, env }: Program, names: readonly string[]): Promise<ExitReason> {
  const config = await readMcpConfig(process.cwd());
  for (const name of names) requireServer(config, name);
  const entries = Object.fromEntries(names.map((name) => [name, config.mcpServers[name]]));
  await saveConsents(process.cwd(), env, entries);
  for (const [name, entry] of Object.entries(entries)) {
    if (entry) terminal.note(`Allowed in this folder, until it changes:\n${describeServer(name, entry)}`);
  }
  return "ok";
}
