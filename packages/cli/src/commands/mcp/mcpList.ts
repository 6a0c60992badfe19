import { projectConfigFile, redactServer } from "@toolcrib/mcp/config";
import type { ExitReason } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import { oneLine } from "../../terminal/render.ts";
import { ownConsents } from "../../tools/mcpConsent.ts";
import type { DefineCommand } from "../defineCommand.ts";

/** `toolcrib mcp list`: one line for each server, without secrets. */
export const define: DefineCommand = (command, action) => command.option("--json", "as JSON").action(action(mcpList));

async function mcpList({ terminal, env }: Program, { json }: { json?: boolean }): Promise<ExitReason> {
  const file = projectConfigFile(process.cwd());
  const config = await file.read();
  const shown = Object.entries(config.mcpServers).map(([name, server]) => [name, redactServer(server)] as const);
  if (json) {
    terminal.data(`${JSON.stringify({ mcpServers: Object.fromEntries(shown) }, null, 2)}\n`);
    return "ok";
  }
  if (shown.length === 0) terminal.note(`No servers in ${file.name}; add one with: toolcrib mcp add NAME COMMAND`);
  const { bold, dim } = terminal.dataStyle;
  const consents = await ownConsents(env).read(config);
  const width = Math.max(...shown.map(([name]) => name.length));
  for (const [name, server] of shown) {
    const what = "url" in server ? server.url : [server.command, ...(server.args ?? [])].join(" ");
    const consent = consents.get(name) ?? "new";
    const state = server.disabled ? "disabled" : consent === "new" ? "not allowed yet" : consent;
    const note = state === "allowed" ? "" : dim(` (${state})`);
    terminal.show(`${bold(oneLine(name, 64))}${" ".repeat(width - name.length)}  ${oneLine(what, 200)}${note}\n`);
  }
  return "ok";
}
