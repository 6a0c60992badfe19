import type { Command } from "commander";
import type { Ending } from "../endings.ts";
import type { Program } from "../program.ts";
import type { McpServeFlags } from "./mcpServe.ts";
import type { McpAddFlags } from "./mcpServers.ts";

/** What the commands are given by the others. */
export interface McpCommandsOptions {
  program: () => Promise<Program>;
  ended: (ending: Ending) => void;
  /** Adds the flags that choose tools and roots. */
  withTools: (command: Command) => Command;
}

/** Adds `toolcrib mcp …` to the command; answers every command added. */
export function addMcpCommands(root: Command, { program, ended, withTools }: McpCommandsOptions): Command[] {
  const mcp = root.command("mcp").description("the tools over MCP, and the MCP servers of this directory");
  const serve = withTools(mcp.command("serve").description("serve the tools over MCP, on standard input and output"))
    .option("--http <port>", "over HTTP at /mcp instead, for clients with the bearer token (0: a free port)")
    .option("--host <address>", "the address to listen on (default: 127.0.0.1)")
    .option("--no-auth", "ask for no token; only on a loopback address")
    .addHelpText(
      "after",
      "\nWithout --root the tools keep to the roots that the client names, else to this directory;\nover HTTP to this directory, which roots of a client only narrow.\nTOOLCRIB_MCP_TOKEN sets the bearer token of --http; without it each start makes a new one.",
    )
    .action(async (flags: McpServeFlags) => {
      const command = await import("./mcpServe.ts");
      ended(await command.mcpServe(flags, await program()));
    });
  const add = mcp
    .command("add")
    .description("add a server to .mcp.json: a command, or the address of one")
    .usage("[options] NAME [--] COMMAND [ARGS...] | [options] NAME URL")
    .argument("<name>", "what its tools begin with: mcp__NAME__…")
    .argument("<target>", "the command, or an http address")
    .argument("[args...]", "the arguments of the command")
    .option("-e, --env <name=value>", "a variable for the command; may be given again", collect)
    .option("-H, --header <name: value>", "a header for the address; may be given again", collect)
    .option("--cwd <dir>", "where the command runs")
    .allowUnknownOption()
    .action(async (name: string, target: string, args: string[], flags: McpAddFlags) => {
      const command = await import("./mcpServers.ts");
      ended(await command.mcpAdd(name, [target, ...args], flags, await program()));
    });
  const list = mcp
    .command("list")
    .description("the servers in .mcp.json")
    .option("--json", "as JSON")
    .action(async (flags: { json?: boolean }) => {
      const command = await import("./mcpServers.ts");
      ended(await command.mcpList(flags, await program()));
    });
  const allow = mcp
    .command("allow")
    .description("allow servers to start as .mcp.json has them now; a changed entry asks again")
    .argument("<names...>", "the servers, as mcp list names them")
    .action(async (names: string[]) => {
      const command = await import("./mcpServers.ts");
      ended(await command.mcpAllow(names, await program()));
    });
  const remove = mcp
    .command("remove")
    .description("remove a server from .mcp.json")
    .argument("<name>", "the server, as mcp list names it")
    .action(async (name: string) => {
      const command = await import("./mcpServers.ts");
      ended(await command.mcpRemove(name, await program()));
    });
  const test = mcp
    .command("test")
    .description("start the servers in .mcp.json and show their tools")
    .argument("[name]", "only this one")
    .option("--accept", "accept the tools that have changed since they were first seen")
    .action(async (name: string | undefined, flags: { accept?: boolean }) => {
      const command = await import("./mcpTest.ts");
      ended(await command.mcpTest(name, flags, await program()));
    });
  return [mcp, serve, add, list, allow, remove, test];
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
