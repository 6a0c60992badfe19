import type { ExitReason } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import { oneLine } from "../../terminal/render.ts";
import { readMcpConfig } from "../../tools/mcpConfig.ts";
import { mcpConfigName } from "../../tools/mcpConfigName.ts";
import { consentTo, readConsents } from "../../tools/mcpConsent.ts";
import { redactServer } from "../../tools/redactServer.ts";
import type { DefineCommand } from "../defineCommand.ts";

/** `toolcrib mcp list`: one line for each server, without secrets. */
export const define: DefineCommand = (command, action) => command.option("--json", "as JSON").action(action(mcpList));

async function mcpList({ terminal, env }: Program, { json }: { json?: boolean }): Promise<ExitReason> {
  const { mcpServers } = await readMcpConfig(process.cwd());
  const shown = Object.entries(mcpServers).map(([name, server]) => [name, redactServer(server)] as const);
  if (json) {
    terminal.data(`${JSON.stringify({ mcpServers: Object.fromEntries(shown) }, null, 2)}\n`);
    return "ok";
  }
  if (shown.length === 0) terminal.note(`No servers in ${mcpConfigName}; add one with: toolcrib mcp add NAME COMMAND`);
  const { bold, dim } = terminal.dataStyle;
  const consents = readConsents(process.cwd(), env);
  const width = Math.max(...shown.map(([name]) => name.length));
  for (const [name, server] of shown) {
    const what = "url" in server ? server.url : [server.command, ...(server.args ?? [])].join(" ");
    const consent = consentTo(consents, name, mcpServers[name]);
    const state = server.disabled ? "disabled" : consent === "new" ? "not allowed yet" : consent;
    const note = state === "allowed" ? "" : dim(` (${state})`);
    terminal.show(`${bold(oneLine(name, 64))}${" ".repeat(width - name.length)}  ${oneLine(what, 200)}${note}\n`);
  }
  return "ok";
}
