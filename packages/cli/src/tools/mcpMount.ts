import { messageOf } from "@toolcrib/core/text";
import { fileToolStore, type McpConfig, type McpMount, type McpToolStore, mountMcp } from "@toolcrib/mcp";
import {
  joinServers,
  type McpConfigFile,
  projectConfigFile,
  requireServer,
  userConfigFile,
} from "@toolcrib/mcp/config";
import { usageError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { configFolder } from "../state/stateBase.ts";
import { makeStateFolder, stateName } from "../state/stateFolder.ts";
import type { Asker } from "../terminal/ask.ts";
import { allowedServers } from "./mcpConsent.ts";
import { ownLogins } from "./ownLogins.ts";

/** Opens the file of this directory's servers, or with `user` those that are the user's own in every directory. */
export function serversFile({ env }: Pick<Program, "env">, user = false): McpConfigFile {
  return user ? userConfigFile(`${configFolder(env)}/mcp.json`) : projectConfigFile(process.cwd());
}

/**
 * The user's own servers, and those of this directory that the user has allowed to start, or allows now: all, or one by its name. `needs`
 * begins the sentence where there is none.
 */
export async function startableServers(
  program: Program,
  asker: Asker | undefined,
  needs: string,
  name?: string,
): Promise<McpConfig> {
  const [own, project] = [serversFile(program, true), serversFile(program)];
  const [user, given] = [await own.read(), await project.read()];
  const all = { ...user.mcpServers, ...given.mcpServers };
  if (name !== undefined) requireServer(all, name, project.name);
  if (Object.keys(all).length === 0)
    throw usageError(`${needs}no servers in ${project.name}; add one with: toolcrib mcp add NAME COMMAND`);
  const only = ({ mcpServers }: McpConfig): McpConfig => ({
    mcpServers: Object.fromEntries(
      Object.entries(mcpServers).filter(([known]) => name === undefined || known === name),
    ),
  });
  const { config, replaced } = joinServers(only(user), await allowedServers(only(given), program, asker, only(user)));
  for (const one of replaced)
    program.terminal.aside(`${one} of ${project.name} is used in place of yours in ${own.name}.`);
  return config;
}

/** Mounts the servers as tools, for `--mcp`. */
export async function mountServers(program: Program, asker: Asker | undefined): Promise<McpMount> {
  const { terminal, env } = program;
  const config = await startableServers(program, asker, "--mcp: ");
  const store = ownToolStore(process.cwd(), program);
  const mount = await mountMcp(config, { store, logins: ownLogins(env), environment: env, resources: true });
  for (const { message, code } of mount.problems) {
    const isChange = code === "tool_changed" || code === "instructions_changed";
    const advice = isChange ? "; toolcrib mcp test --accept takes the change" : "";
    terminal.aside(`${message}${advice}`);
  }
  return mount;
}

/** Opens the store of accepted tools of a directory's servers; undefined, with a note, if nothing can be kept. */
export function ownToolStore(directory: string, { env, terminal }: Program): McpToolStore | undefined {
  try {
    return fileToolStore(`${makeStateFolder(env, "mcp")}/${stateName(directory)}.json`);
  } catch (error) {
    terminal.aside(`What the servers' tools are cannot be kept: ${messageOf(error)}`);
    return undefined;
  }
}
