import { serverAddress } from "@toolcrib/mcp/config";
import { login, openBrowser } from "@toolcrib/mcp/oauth";
import { type ExitReason, usageError } from "../../exitReasons.ts";
import { collect } from "../../flagValues.ts";
import type { Program } from "../../program.ts";
import { terminalAsker } from "../../terminal/ask.ts";
import { startableServers } from "../../tools/mcpMount.ts";
import { ownLogins } from "../../tools/ownLogins.ts";
import type { DefineCommand } from "../defineCommand.ts";

interface McpLoginFlags {
  /** False by `--no-browser`. */
  readonly browser?: boolean;
  readonly clientId?: string;
  readonly port?: string;
  readonly trust?: readonly string[];
}

/** `toolcrib mcp login`: in the user's browser; the tokens are kept in the user's own folder. */
export const define: DefineCommand = (command, action) =>
  command
    .argument("<name>", "the server, as mcp list names it")
    .option("--no-browser", "open no browser, only print the address to log in at")
    .option("--client-id <id>", "a client that you have registered, or the https address of its metadata")
    .option("--port <port>", "the port on this machine that the browser comes back to (default: a free one)")
    .option("--trust <origin>", "an origin that may give the token, beside that of the login page", collect)
    .action(action(mcpLogin));

async function mcpLogin(program: Program, name: string, flags: McpLoginFlags): Promise<ExitReason> {
  const { terminal, interrupts, env } = program;
  const { browser = true, clientId, port = "0", trust } = flags;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw usageError(`--port ${port}: expected a port`);
  const asker = terminalAsker(program);
  const { mcpServers } = await startableServers(program, asker, "", name);
  const entry = mcpServers[name];
  const address = entry && serverAddress(name, entry, env);
  if (!address)
    throw usageError(`${name}: only a server at an address has a login; this one is a command, or not in use`);
  const open = (page: URL): void => {
    const isOpen = browser && openBrowser(page, env);
    terminal.note(
      `${isOpen ? "Your browser opens" : "Open in a browser"} the login page of ${page.origin}:\n${page.href}`,
    );
  };
  return interrupts.during(async (signal) => {
    const options = {
      server: name,
      ...address,
      store: ownLogins(env),
      open,
      clientId,
      port: Number(port),
      trust,
      signal,
    };
    const done = await login(options).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    });
    if (!done) return "interrupted";
    terminal.note(`Logged in at ${name}, by ${new URL(done.issuer).origin}; toolcrib mcp logout ${name} ends that`);
    return "ok";
  });
}
