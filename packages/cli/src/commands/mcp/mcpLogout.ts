import { requireServer, serverAddress } from "@toolcrib/mcp/config";
import { logout } from "@toolcrib/mcp/oauth";
import type { ExitReason } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import { serversFile } from "../../tools/mcpMount.ts";
import { ownLogins } from "../../tools/ownLogins.ts";
import type { DefineCommand } from "../defineCommand.ts";

/** `toolcrib mcp logout`: the tokens are forgotten here and taken back there. Nothing of the server is started or asked. */
export const define: DefineCommand = (command, action) =>
  command.argument("<name>", "the server, as mcp list names it").action(action(mcpLogout));

async function mcpLogout(program: Program, name: string): Promise<ExitReason> {
  const { terminal, env } = program;
  const [user, project] = [await serversFile(program, true).read(), await serversFile(program).read()];
  requireServer({ ...user.mcpServers, ...project.mcpServers }, name, serversFile(program).name);
  let found = false;
  for (const { mcpServers } of [user, project]) {
    const entry = Object.hasOwn(mcpServers, name) ? mcpServers[name] : undefined;
    const address = entry && serverAddress(name, entry, env);
    const result = address ? await logout(address.url, ownLogins(env)) : "none";
    if (result === "forgotten")
      terminal.note("The authorization server did not confirm that it has taken the tokens back.");
    found ||= result !== "none";
  }
  terminal.note(found ? `Logged out of ${name}` : `There is no login at ${name}`);
  return "ok";
}
