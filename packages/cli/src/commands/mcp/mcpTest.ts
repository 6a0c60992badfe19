import { oneLine } from "@toolcrib/core/internal";
import { checkServer } from "@toolcrib/mcp";
import type { ExitReason } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import { terminalAsker } from "../../terminal/ask.ts";
import { startableServers } from "../../tools/mcpMount.ts";
import { ownLogins } from "../../tools/ownLogins.ts";
import { ownToolStore } from "../../tools/ownToolStore.ts";
import { type DefineCommand, defineCommand } from "../defineCommand.ts";

/** `toolcrib mcp test`: starts the servers, shows their tools, and says what is wrong with them. */
export const test: DefineCommand = defineCommand({
  flags: { accept: { usage: "--accept", about: "accept the tools that have changed since they were first seen" } },
  arguments: [["[name]", "only this one"]],
  run: (program, { accept }, [name]) => mcpTest(program, name, accept),
});

async function mcpTest(program: Program, name: string | undefined, accept = false): Promise<ExitReason> {
  const { terminal, interrupts, env } = program;
  const asker = terminalAsker(program);
  const { mcpServers } = await startableServers(program, asker, "", name);
  const store = ownToolStore(process.cwd(), program);
  return interrupts.during(async (signal) => {
    const options = {
      store,
      logins: ownLogins(env),
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
    for (const { message } of problems) terminal.note(message);
    if (problems.some(({ code }) => code === "tool_changed" || code === "instructions_changed")) {
      terminal.note("Accept the changes with: toolcrib mcp test --accept");
    }
    return problems.length > 0 ? "failed" : "ok";
  });
}
