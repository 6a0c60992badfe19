import { nearestName } from "@toolcrib/core";
import { redactUrls } from "@toolcrib/core/text";
import type { McpConfig, McpServerConfig } from "@toolcrib/mcp";
import { type Ending, usageError } from "../endings.ts";
import type { Program } from "../program.ts";
import { oneLine } from "../terminal/render.ts";
import { withoutSecrets } from "../terminal/secretText.ts";
import { changeMcpConfig, mcpConfigName, readMcpConfig } from "../tools/mcpConfig.ts";
import { consentTo, readConsents, saveConsents } from "../tools/mcpConsent.ts";
import { describeServer } from "../tools/mcpDescribe.ts";

export interface McpAddFlags {
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly cwd?: string;
}

/** `toolcrib mcp add`: who adds a server allows it to start. */
export async function mcpAdd(
  name: string,
  target: readonly string[],
  flags: McpAddFlags,
  program: Program,
): Promise<Ending> {
  if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name) || name === "__proto__") {
    throw usageError(`${name}: a server's name is made of letters, digits, _, . and -`);
  }
  const server = serverOf(target, flags);
  await changeMcpConfig(process.cwd(), name, ({ mcpServers }) => {
    if (!Object.hasOwn(mcpServers, name)) return server;
    throw usageError(`${name} is in ${mcpConfigName} already; toolcrib mcp remove ${name} takes it out`);
  });
  await keepConsents({ [name]: server }, program);
  program.terminal.note(`Added ${name} to ${mcpConfigName}; try it with: toolcrib mcp test ${name}`);
  return "ok";
}

/** The change of the file stands, also where this cannot be kept. */
async function keepConsents(entries: Readonly<Record<string, unknown>>, { env, terminal }: Program): Promise<void> {
  try {
    await saveConsents(process.cwd(), env, entries);
  } catch (error) {
    terminal.note(`That it may start could not be kept, so it will be asked: ${(error as Error).message}`);
  }
}

function serverOf(
  [target = "", ...args]: readonly string[],
  { env = [], header = [], cwd }: McpAddFlags,
): McpServerConfig {
  if (!/^https?:\/\//.test(target)) {
    if (header.length > 0) throw usageError("--header is for the address of a server, not for a command");
    const variables = pairs("--env", env, "=", "NAME=value");
    return {
      command: target,
      args,
      ...(env.length > 0 && { env: variables }),
      ...(cwd !== undefined && { cwd }),
    };
  }
  if (!URL.canParse(target)) throw usageError(`${redactUrls(target)}: this is no address`);
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

/** `toolcrib mcp list`: a line a server, without what may be secret. */
export async function mcpList({ json }: { json?: boolean }, { terminal, env }: Program): Promise<Ending> {
  const { mcpServers } = await readMcpConfig(process.cwd());
  const shown = Object.entries(mcpServers).map(([name, server]) => [name, withoutSecrets(server)] as const);
  if (json) {
    terminal.data(`${JSON.stringify({ mcpServers: Object.fromEntries(shown) }, null, 2)}\n`);
    return "ok";
  }
  if (shown.length === 0) terminal.note(`No servers in ${mcpConfigName}; add one with: toolcrib mcp add NAME COMMAND`);
  const { bold, dim } = terminal.dataStyle;
  const consents = readConsents(process.cwd(), env);
  const width = Math.max(...shown.map(([name]) => name.length));
  for (const [name, server] of shown) {
    const what = "url" in server ? server.url : [server.command, ...(server.args ?? [])].join(" ");
    const consent = consentTo(consents, name, mcpServers[name]);
    const state = server.disabled ? "disabled" : consent === "new" ? "not allowed yet" : consent;
    const note = state === "allowed" ? "" : dim(` (${state})`);
    terminal.show(`${bold(oneLine(name, 64))}${" ".repeat(width - name.length)}  ${oneLine(what, 200)}${note}\n`);
  }
  return "ok";
}

/** `toolcrib mcp allow`: the servers of this folder may start as `.mcp.json` has them now. */
export async function mcpAllow(names: readonly string[], { terminal, env }: Program): Promise<Ending> {
  const config = await readMcpConfig(process.cwd());
  for (const name of names) requireServer(config, name);
  const entries = Object.fromEntries(names.map((name) => [name, config.mcpServers[name]]));
  await saveConsents(process.cwd(), env, entries);
  for (const [name, entry] of Object.entries(entries)) {
    if (entry) terminal.note(`Allowed in this folder, until it changes:\n${describeServer(name, entry)}`);
  }
  return "ok";
}

/** `toolcrib mcp remove` */
export async function mcpRemove(name: string, program: Program): Promise<Ending> {
  await changeMcpConfig(process.cwd(), name, (config) => {
    requireServer(config, name);
    return undefined;
  });
  await keepConsents({ [name]: undefined }, program);
  program.terminal.note(`Removed ${name} from ${mcpConfigName}`);
  return "ok";
}

/** Throws a usage error for a server that is not in the configuration. */
export function requireServer({ mcpServers }: McpConfig, name: string): void {
  if (Object.hasOwn(mcpServers, name)) return;
  const names = Object.keys(mcpServers);
  const nearest = nearestName(name, names);
  const known = names.length > 0 ? `there are ${names.join(", ")}` : "there are none";
  throw usageError(`${name} is not in ${mcpConfigName}; ${nearest ? `did you mean ${nearest}?` : known}`);
}
