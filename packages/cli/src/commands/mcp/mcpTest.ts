import { oneLine } from "@toolcrib/core/internal";
import { checkServer } from "@toolcrib/mcp";
import type { ExitReason } from "../../exitReasons.ts";
import { mcpFlag } from "../../sharedFlags.ts";
import { terminalAsker } from "../../terminal/ask.ts";
import { startableServers, withProtocol } from "../../tools/mcpMount.ts";
import { ownLogins } from "../../tools/ownLogins.ts";
import { ownToolStore } from "../../tools/ownToolStore.ts";
import { type DefineCommand, defineCommand } from "../defineCommand.ts";

/** `toolcrib mcp test`: starts the servers, shows their tools, and says what is wrong with them. */
export const test: DefineCommand = defineCommand({
  flags: {
    protocol: mcpFlag.protocol,
    accept: { usage: "--accept", about: "accept the tools that have changed since they were first seen" },
  },
  arguments: [["[name]", "only this one"]],
  async run(program, { accept = false, protocol }, [name]): Promise<ExitReason> {
    const { terminal, interrupts, env, folders } = program;
    const asker = terminalAsker(program);
    const { mcpServers } = withProtocol(await startableServers(program, asker, "", name), protocol);
    const store = ownToolStore(program.cwd, program);
    return interrupts.during(async (signal) => {
      const options = {
        store,
        logins: ownLogins(folders),
        environment: env,
        accept: () => accept,
        clientName: "toolcrib",
        signal,
      };
      const checks = await Promise.all(
        Object.entries(mcpServers).map(([server, entry]) => checkServer(server, entry, options)),
      ).catch((error: unknown) => {
        if (signal.aborted) return undefined;
        throw error;
      });
      if (!checks) return "interrupted";
      const { bold, dim } = terminal.dataStyle;
      for (const { name: tool, description } of checks.flatMap(({ tools }) => tools)) {
        const [line = ""] = description.split("\n");
        terminal.show(`${bold(tool)}  ${dim(oneLine(line, 200))}\n`);
      }
      const problems = checks.flatMap((check) => check.problems);
      for (const { message, details } of problems) {
        terminal.note(message);
        if ("difference" in details) terminal.note(details.difference);
      }
      if (
        problems.some(({ code }) => code === "tool_changed" || code === "tool_added" || code === "instructions_changed")
      ) {
        terminal.note("Accept the changes with: toolcrib mcp test --accept");
      }
      return checks.every(({ isOk }) => isOk) ? "ok" : "failed";
    });
  },
});
