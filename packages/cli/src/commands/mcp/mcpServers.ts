import { oneLine } from "@toolcrib/core/internal";
import { showInvisible } from "@toolcrib/core/text";
import { redactUrls } from "@toolcrib/kit/text";
import type { McpServerConfig } from "@toolcrib/mcp";
import { describeServer, fileConsents, projectConfigFile, redactServer, requireServer } from "@toolcrib/mcp/config";
import { type ExitReason, usageError } from "../../exitReasons.ts";
import type { FlagsOf } from "../../flags.ts";
import { mcpFlag } from "../../sharedFlags.ts";
import { listServers, notedConsents, serversFile } from "../../tools/mcpMount.ts";
import { type DefineCommand, defineCommand } from "../defineCommand.ts";

const addFlags = {
  env: { usage: "-e, --env <name=value>", about: "a variable for the command; may be given again", value: "list" },
  header: { usage: "-H, --header <name: value>", about: "a header for the address; may be given again", value: "list" },
  user: { usage: "--user", about: "for every directory, in your own mcp.json" },
  cwd: { usage: "--cwd <dir>", about: "where the command runs" },
  protocol: mcpFlag.protocol,
} as const;

/** `toolcrib mcp add`: who adds a server allows it to start. */
export const add: DefineCommand = defineCommand({
  flags: addFlags,
  usage: "[options] NAME [--] COMMAND [ARGS...] | [options] NAME URL",
  arguments: [
    ["<name>", "the prefix of its tools: mcp__NAME__…"],
    ["<target>", "the command, or an http address"],
    ["[args...]", "the arguments of the command"],
  ],
  takesAnyFlag: true,
  async run(program, flags, [name, target, args]): Promise<ExitReason> {
    if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name) || name === "__proto__") {
      throw usageError(`${name}: a server's name can have only letters, digits, _, . and -`);
    }
    const server = serverOf(target, args, flags);
    const file = serversFile(program, flags.user);
    await file.change(name, ({ mcpServers }) => {
      if (!Object.hasOwn(mcpServers, name)) return server;
      throw usageError(
        `${name} is in ${file.name} already; toolcrib mcp remove ${flags.user ? "--user " : ""}${name} removes it`,
      );
    });
    if (!flags.user) await notedConsents(program).save({ [name]: server });
    program.terminal.note(
      `Added ${name} to ${file.name}: toolcrib chat uses it, and run with --mcp; try it with: toolcrib mcp test ${name}`,
    );
    return "ok";
  },
});

/** `toolcrib mcp allow`: the servers of this folder may start as `.mcp.json` has them now. */
export const allow: DefineCommand = defineCommand({
  arguments: [["<names...>", "the servers, as mcp list names them"]],
  async run({ terminal, trust, cwd }, _flags, [names]): Promise<ExitReason> {
    const file = projectConfigFile(cwd);
    const { mcpServers } = await file.read();
    for (const name of names) {
      requireServer(mcpServers, name, file.name);
      const entry = mcpServers[name];
      if (entry && !("url" in entry) && !entry.command)
        throw usageError(
          `${name} in ${file.name} has neither a command nor a url; correct it, or: toolcrib mcp remove ${name}`,
        );
    }
    const entries = Object.fromEntries(names.map((name) => [name, mcpServers[name]]));
    await fileConsents(trust, cwd).save(entries);
    for (const [name, entry] of Object.entries(entries)) {
      if (entry) terminal.note(`Allowed in this folder, until it changes:\n${describeServer(name, entry)}`);
    }
    return "ok";
  },
});

/** `toolcrib mcp list`: one line for each server, without secrets, and where it comes from. */
export const list: DefineCommand = defineCommand({
  flags: { json: { usage: "--json", about: "as JSON" } },
  async run(program, { json }): Promise<ExitReason> {
    const { terminal } = program;
    const listed = await listServers(program);
    const rows = listed.map(({ server, ...row }) => ({ ...row, server: redactServer(server) }));
    const projectName = serversFile(program).name;
    if (json) {
      const entries = (isOwn: boolean): Record<string, McpServerConfig> =>
        Object.fromEntries(
          rows.filter(({ from }) => (from !== projectName) === isOwn).map(({ name, server }) => [name, server]),
        );
      terminal.data(
        `${JSON.stringify({ mcpServers: entries(false), user: { mcpServers: entries(true) } }, null, 2)}\n`,
      );
      return "ok";
    }
    const { bold, dim } = terminal.dataStyle;
    if (rows.length === 0) terminal.note(`No servers in ${projectName}; add one with: toolcrib mcp add NAME COMMAND`);
    const width = Math.max(...rows.map(({ name }) => name.length));
    for (const { name, server, from, state } of rows) {
      const what = "url" in server ? server.url : [server.command, ...(server.args ?? [])].join(" ");
      const note = dim(`${state === "allowed" ? "" : ` (${state})`}  ${from}`);
      terminal.show(
        `${bold(oneLine(name, 64))}${" ".repeat(width - name.length)}  ${oneLine(showInvisible(what.replace(/\s+/g, " ")), 200)}${note}\n`,
      );
      // The same as the question would show: a user who cannot be asked looks here.
      const isAsked = state !== "allowed" && from === projectName;
      const more = isAsked ? describeServer(name, server).split("\n").slice(1) : [];
      for (const line of more) terminal.show(`${line}\n`);
    }
    return "ok";
  },
});

/** `toolcrib mcp remove`: its consent is forgotten with it. */
export const remove: DefineCommand = defineCommand({
  flags: { user: { usage: "--user", about: "one of your own mcp.json" } },
  arguments: [["<name>", "the server, as mcp list names it"]],
  async run(program, { user }, [name]): Promise<ExitReason> {
    const file = serversFile(program, user);
    await file.change(name, ({ mcpServers }) => {
      requireServer(mcpServers, name, file.name);
      return undefined;
    });
    if (!user) await notedConsents(program).save({ [name]: undefined });
    program.terminal.note(`Removed ${name} from ${file.name}`);
    return "ok";
  },
});

function serverOf(
  target: string,
  args: readonly string[],
  { env = [], header = [], cwd, protocol }: FlagsOf<typeof addFlags>,
): McpServerConfig {
  if (target.trim() === "") throw usageError("the command is empty; write a command or an http address");
  if (!/^https?:\/\//.test(target)) {
    if (header.length > 0) throw usageError("--header is for the address of a server, not for a command");
    const variables = pairs("--env", env, "=", "NAME=value");
    return {
      command: target,
      args: [...args],
      ...(env.length > 0 && { env: variables }),
      ...(cwd !== undefined && { cwd }),
      ...(protocol !== undefined && { protocol }),
    };
  }
  if (!URL.canParse(target)) throw usageError(`${redactUrls(target)}: this is not an address`);
  if (args.length > 0) throw usageError(`${args[0]}: an address takes no arguments`);
  if (env.length > 0 || cwd !== undefined) throw usageError("--env and --cwd are for a command, not for an address");
  const headers = pairs("--header", header, ":", "Name: value");
  return {
    type: "http",
    url: target,
    ...(header.length > 0 && { headers }),
    ...(protocol !== undefined && { protocol }),
  };
}

function pairs(flag: string, given: readonly string[], separator: string, form: string): Record<string, string> {
  return Object.fromEntries(
    given.map((pair) => {
      const at = pair.indexOf(separator);
      if (at < 1) throw usageError(`${flag} ${pair}: expected ${form}`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}
