import { requireServer } from "@toolcrib/mcp/config";
import type { ExitReason } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import { notedConsents } from "../../tools/mcpConsent.ts";
import { serversFile } from "../../tools/mcpMount.ts";
import type { DefineCommand } from "../defineCommand.ts";

/** `toolcrib mcp remove`: its consent is forgotten with it. */
export const define: DefineCommand = (command, action) =>
  command
    .argument("<name>", "the server, as mcp list names it")
    .option("--user", "one of your own mcp.json")
    .action(action(mcpRemove));

async function mcpRemove(program: Program, name: string, { user }: { user?: boolean }): Promise<ExitReason> {
  const file = serversFile(program, user);
  await file.change(name, ({ mcpServers }) => {
    requireServer(mcpServers, name, file.name);
    return undefined;
  });
  if (!user) await notedConsents(program).save({ [name]: undefined });
  program.terminal.note(`Removed ${name} from ${file.name}`);
  return "ok";
}
