import { describeServer, projectConfigFile, requireServer } from "@toolcrib/mcp/config";
import type { ExitReason } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import { ownConsents } from "../../tools/mcpConsent.ts";
import type { DefineCommand } from "../defineCommand.ts";

/** `toolcrib mcp allow`: the servers of this folder may start as `.mcp.json` has them now. */
export const define: DefineCommand = (command, action) =>
  command.argument("<names...>", "the servers, as mcp list names them").action(action(mcpAllow));

async function mcpAllow({ terminal, env }: Program, names: readonly string[]): Promise<ExitReason> {
  const file = projectConfigFile(process.cwd());
  const { mcpServers } = await file.read();
  for (const name of names) requireServer(mcpServers, name, file.name);
  const entries = Object.fromEntries(names.map((name) => [name, mcpServers[name]]));
  await ownConsents(env).save(entries);
  for (const [name, entry] of Object.entries(entries)) {
    if (entry) terminal.note(`Allowed in this folder, until it changes:\n${describeServer(name, entry)}`);
  }
  return "ok";
}
