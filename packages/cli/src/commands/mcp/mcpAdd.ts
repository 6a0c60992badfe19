import { redactUrls } from "@toolcrib/kit/text";
import type { McpServerConfig } from "@toolcrib/mcp";
import { type ExitReason, usageError } from "../../exitReasons.ts";
import { collect } from "../../flagValues.ts";
import type { Program } from "../../program.ts";
import { notedConsents } from "../../tools/mcpConsent.ts";
import { serversFile } from "../../tools/mcpMount.ts";
import type { DefineCommand } from "../defineCommand.ts";

interface McpAddFlags {
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly cwd?: string;
  readonly user?: boolean;
}

/** `toolcrib mcp add`: who adds a server allows it to start. */
export const define: DefineCommand = (command, action) =>
  command
    .usage("[options] NAME [--] COMMAND [ARGS...] | [options] NAME URL")
    .argument("<name>", "what its tools begin with: mcp__NAME__…")
    .argument("<target>", "the command, or an http address")
    .argument("[args...]", "the arguments of the command")
    .option("-e, --env <name=value>", "a variable for the command; may be given again", collect)
    .option("-H, --header <name: value>", "a header for the address; may be given again", collect)
    .option("--user", "for every directory, in your own mcp.json")
    .option("--cwd <dir>", "where the command runs")
    .allowUnknownOption()
    .action(action(mcpAdd));

async function mcpAdd(
  program: Program,
  name: string,
  target: string,
  args: readonly string[],
  flags: McpAddFlags,
): Promise<ExitReason> {
  if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name) || name === "__proto__") {
    throw usageError(`${name}: a server's name is made of letters, digits, _, . and -`);
  }
  const server = serverOf(target, args, flags);
  const file = serversFile(program, flags.user);
  await file.change(name, ({ mcpServers }) => {
    if (!Object.hasOwn(mcpServers, name)) return server;
    throw usageError(
      `${name} is in ${file.name} already; toolcrib mcp remove ${flags.user ? "--user " : ""}${name} takes it out`,
    );
  });
  if (!flags.user) await notedConsents(program).save({ [name]: server });
  program.terminal.note(`Added ${name} to ${file.name}; try it with: toolcrib mcp test ${name}`);
  return "ok";
}

function serverOf(
  target: string,
  args: readonly string[],
  { env = [], header = [], cwd }: McpAddFlags,
): McpServerConfig {
  if (!/^https?:\/\//.test(target)) {
    if (header.length > 0) throw usageError("--header is for the address of a server, not for a command");
    const variables = pairs("--env", env, "=", "NAME=value");
    return {
      command: target,
      args: [...args],
      ...(env.length > 0 && { env: variables }),
      ...(cwd !== undefined && { cwd }),
    };
  }
  if (!URL.canParse(target)) throw usageError(`${redactUrls(target)}: this is not an address`);
  if (args.length > 0) throw usageError(`${args[0]}: an address takes no arguments`);
  if (env.length > 0 || cwd !== undefined) throw usageError("--env and --cwd are for a command, not for an address");
  const headers = pairs("--header", header, ":", "Name: value");
  return { type: "http", url: target, ...(header.length > 0 && { headers }) };
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
