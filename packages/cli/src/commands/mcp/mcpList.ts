import { showInvisible } from "@toolcrib/core/text";
import type { McpConfig, McpServerConfig } from "@toolcrib/mcp";
import { describeServer, redactServer } from "@toolcrib/mcp/config";
import type { ExitReason } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import { oneLine } from "../../terminal/render.ts";
import { ownConsents } from "../../tools/mcpConsent.ts";
import { serversFile } from "../../tools/mcpMount.ts";
import type { DefineCommand } from "../defineCommand.ts";

/** `toolcrib mcp list`: one line for each server, without secrets, and where it comes from. */
export const define: DefineCommand = (command, action) => command.option("--json", "as JSON").action(action(mcpList));

async function mcpList(program: Program, { json }: { json?: boolean }): Promise<ExitReason> {
  const { terminal, env } = program;
  const [project, own] = [serversFile(program), serversFile(program, true)];
  const [config, ownConfig] = [await project.read(), await own.read()];
  const [shown, shownOwn] = [entriesOf(config), entriesOf(ownConfig)];
  if (json) {
    const mcpServers = Object.fromEntries(shown);
    terminal.data(`${JSON.stringify({ mcpServers, user: { mcpServers: Object.fromEntries(shownOwn) } }, null, 2)}\n`);
    return "ok";
  }
  const { bold, dim } = terminal.dataStyle;
  const consents = await ownConsents(env).read(config);
  const isAllowed = (name: string): boolean => consents.get(name) === "allowed";
  const rows = [
    ...shown.map(([name, server]) => {
      const consent = consents.get(name) ?? "new";
      return { name, server, from: project.name, state: consent === "new" ? "not allowed yet" : consent };
    }),
    ...shownOwn.map(([name, server]) => {
      const isReplaced = shown.some(([other, { disabled }]) => other === name && !disabled && isAllowed(name));
      return { name, server, from: own.name, state: isReplaced ? `the one of ${project.name} is used` : "allowed" };
    }),
  ];
  if (rows.length === 0) terminal.note(`No servers in ${project.name}; add one with: toolcrib mcp add NAME COMMAND`);
  const width = Math.max(...rows.map(({ name }) => name.length));
  for (const { name, server, from, state } of rows) {
    const what = "url" in server ? server.url : [server.command, ...(server.args ?? [])].join(" ");
    const word = server.disabled ? "disabled" : state;
    const note = dim(`${word === "allowed" ? "" : ` (${word})`}  ${from}`);
    terminal.show(
      `${bold(oneLine(name, 64))}${" ".repeat(width - name.length)}  ${oneLine(showInvisible(what.replace(/\s+/g, " ")), 200)}${note}\n`,
    );
    // What the question would show: this is where somebody looks who cannot be asked.
    const isAsked = word !== "allowed" && from === project.name;
    const more = isAsked ? describeServer(name, server).split("\n").slice(1) : [];
    for (const line of more) terminal.show(`${line}\n`);
  }
  return "ok";
}

function entriesOf({ mcpServers }: McpConfig): [name: string, server: McpServerConfig][] {
  return Object.entries(mcpServers).map(([name, server]) => [name, redactServer(server)]);
}
