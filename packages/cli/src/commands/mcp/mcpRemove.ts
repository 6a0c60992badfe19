import { projectConfigFile, requireServer } from "@toolcrib/mcp/config";
import type { ExitReason } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import { notedConsents } from "../../tools/mcpConsent.ts";
import type { DefineCommand } from "../defineCommand.ts";

/** `toolcrib mcp remove`: its consent is forgotten with it. */
export const define: DefineCommand = (command, action) =>
  command.argument("<name>", "the server, as mcp list names it").action(action(mcpRemove));

async function mcpRemove(program: Program, name: string): Promise<ExitReason> {
  const file = projectConfigFile(process.cwd());
  await file.change(name, ({ mcpServers }) => {
    requireServer(mcpServers, name, file.name);
    return undefined;
  });
  await notedConsents(program).save({ [name]: undefined });
  program.terminal.note(`Removed ${name} from ${file.name}`);
  return "ok";
}
