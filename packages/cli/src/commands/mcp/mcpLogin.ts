import { requireServer, serverAddress } from "@toolcrib/mcp/config";
import { login as logIn, logout as logOut, openBrowser } from "@toolcrib/mcp/oauth";
import { type ExitReason, usageError } from "../../exitReasons.ts";
import { terminalAsker } from "../../terminal/ask.ts";
import { serversFile, startableServers } from "../../tools/mcpMount.ts";
import { ownLogins } from "../../tools/ownLogins.ts";
import { type DefineCommand, defineCommand } from "../defineCommand.ts";

const loginFlags = {
  noBrowser: { usage: "--no-browser", about: "open no browser, only print the address to log in at" },
  clientId: {
    usage: "--client-id <id>",
    about: "a client that you have registered, or the https address of its metadata",
  },
  port: {
    usage: "--port <port>",
    about: "the port on this machine to which the browser returns (default: a free one)",
  },
  trust: {
    usage: "--trust <origin>",
    about: "another origin that may issue the token, besides that of the login page",
    value: "list",
  },
} as const;

const nameArgument = ["<name>", "the server, as mcp list names it"] as const;

/** `toolcrib mcp login`: in the user's browser; the tokens are kept in the user's own folder. */
export const login: DefineCommand = defineCommand({
  flags: loginFlags,
  arguments: [nameArgument],
  async run(program, flags, [name]): Promise<ExitReason> {
    const { terminal, interrupts, env, folders } = program;
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
        store: ownLogins(folders),
        open,
        clientId,
        port: Number(port),
        trust,
        signal,
      };
      const done = await logIn(options).catch((error: unknown) => {
        if (signal.aborted) return undefined;
        throw error;
      });
      if (!done) return "interrupted";
      terminal.note(
        `Logged in to ${name} through ${new URL(done.issuer).origin}; toolcrib mcp logout ${name} ends that`,
      );
      return "ok";
    });
  },
});

/** `toolcrib mcp logout`: the tokens are forgotten here and taken back there. Nothing of the server is started or asked. */
export const logout: DefineCommand = defineCommand({
  arguments: [nameArgument],
  async run(program, _flags, [name]): Promise<ExitReason> {
    const { terminal, env, folders } = program;
    const [user, project] = [await serversFile(program, true).read(), await serversFile(program).read()];
    requireServer({ ...user.mcpServers, ...project.mcpServers }, name, serversFile(program).name);
    let found = false;
    for (const { mcpServers } of [user, project]) {
      const entry = Object.hasOwn(mcpServers, name) ? mcpServers[name] : undefined;
      const address = entry && serverAddress(name, entry, env);
      const result = address ? await logOut(address.url, ownLogins(folders)) : "none";
      if (result === "forgotten")
        terminal.note("The authorization server did not confirm that it has revoked the tokens.");
      found ||= result !== "none";
    }
    terminal.note(found ? `Logged out of ${name}` : `There is no login to ${name}`);
    return "ok";
  },
});
