import { type McpToolStore, mountMcp } from "@toolcrib/mcp";
import { projectConfigFile, requireServer } from "@toolcrib/mcp/config";
import { type ExitReason, usageError } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import { terminalAsker } from "../../terminal/ask.ts";
import { oneLine } from "../../terminal/render.ts";
import { allowedServers } from "../../tools/mcpConsent.ts";
import { ownToolStore } from "../../tools/mcpMount.ts";
import type { DefineCommand } from "../defineCommand.ts";

/** `toolcrib mcp test`: starts the servers, shows their tools, and says what is wrong with them. */
export const define: DefineCommand = (command, action) =>
  command
    .argument("[name]", "only this one")
    .option("--accept", "accept the tools that have changed since they were first seen")
    .action(action(mcpTest));

async function mcpTest(
  program: Program,
  name: string | undefined,
  { accept = false }: { accept?: boolean },
): Promise<ExitReason> {
  const { terminal, interrupts, env } = program;
  const file = projectConfigFile(process.cwd());
  const { mcpServers } = await file.read();
  if (name !== undefined) requireServer(mcpServers, name, file.name);
  const chosen = Object.entries(mcpServers).filter(([known]) => name === undefined || known === name);
  if (chosen.length === 0) throw usageError(`no servers in ${file.name}; add one with: toolcrib mcp add NAME COMMAND`);
  const asker = terminalAsker({ terminal, interrupt: interrupts.interrupt });
  const allowed = await allowedServers({ mcpServers: Object.fromEntries(chosen) }, program, asker);
  const kept = ownToolStore(process.cwd(), program);
  return interrupts.during(async (signal) => {
    const mount = await mountMcp(allowed, {
      store: kept && withoutCache(kept),
      environment: env,
      accept: () => accept,
      clientName: "toolcrib",
      signal,
    }).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    });
    if (!mount) return "interrupted";
    try {
      const { bold, dim } = terminal.dataStyle;
      for (const tool of mount.tools) {
        const [line = ""] = tool.getSchema().function.description.split("\n");
        terminal.show(`${bold(tool.name)}  ${dim(oneLine(line, 200))}\n`);
      }
      for (const { message } of mount.problems) terminal.note(message);
      if (mount.problems.some(({ code }) => code === "tool_changed")) {
        terminal.note("Accept the changes with: toolcrib mcp test --accept");
      }
      return mount.problems.length > 0 ? "failed" : "ok";
    } finally {
      await mount.close();
    }
  });
}

/** A store that makes every server list its tools again, to compare them with what was accepted. */
function withoutCache(store: McpToolStore): McpToolStore {
  return {
    async load(server) {
      const known = await store.load(server);
      return known && { ...known, config: "" };
    },
    save: (server, known) => store.save(server, known),
  };
}
