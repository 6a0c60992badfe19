import type { ExitReason } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import { changeMcpConfig, requireServer } from "../../tools/mcpConfig.ts";
import { mcpConfigName } from "../../tools/mcpConfigName.ts";
import { keepConsents } from "../../tools/mcpConsent.ts";
import type { DefineCommand } from "../defineCommand.ts";

/** `toolcrib mcp remove`: its consent is forgotten with it. */
export const define: DefineCommand = (command, action) =>
  command.argument("<name>", "the server, as mcp list names it").action(action(mcpRemove));

async function mcpRemove(program: Program, name: string): Promise<ExitReason> {
  await changeMcpConfig(process.cwd(), name, (config) => {
    requireServer(config, name);
    return undefined;
  });
  await keepConsents(program, { [name]: undefined });
  program.terminal.note(`Removed ${name} from ${mcpConfigName}`);
  return "ok";
}
