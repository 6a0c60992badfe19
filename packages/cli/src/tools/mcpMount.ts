import { isMarked, oneLine } from "@toolcrib/core/internal";
import { messageOf } from "@toolcrib/core/text";
import type { AnyMcpError, McpConfig, McpMount, McpServerConfig } from "@toolcrib/mcp";
import {
  allowedServers as allowed,
  describeServer,
  fileConsents,
  joinServers,
  type McpConfigFile,
  type McpConsentQuestion,
  type McpConsents,
  mcpConfigName,
  projectConfigFile,
  requireServer,
  userConfigFile,
} from "@toolcrib/mcp/config";
import { CliError, usageError } from "../exitReasons.ts";
import type { Place, Program } from "../program.ts";
import type { Folders } from "../state/folders.ts";
import { type Asker, askYesNo } from "../terminal/ask.ts";
import { shellWord } from "../terminal/question.ts";
import { ToolsChanges } from "./mcpChanges.ts";
import { ownLogins } from "./ownLogins.ts";

/** Opens the file of this directory's servers, or with `user` those that are the user's own in every directory. */
export function serversFile({ folders, cwd }: Place, user = false): McpConfigFile {
  return user ? userConfigFile(`${folders.config}/mcp.json`) : projectConfigFile(cwd);
}

/**
 * Returns the user's own servers, and those of this directory that the user has allowed to start, or allows now: all, or one by its
 * name. `needs` begins the sentence where there is none.
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
  const joined = joinServers(only(user), await allowedServers(only(given), program, asker, only(user)));
  for (const one of joined.replaced) noteReplaced(one, program);
  return joined.config;
}

/** Tells that a server of this directory stands in for one of the user. */
function noteReplaced(name: string, program: Program): void {
  const [project, own] = [serversFile(program), serversFile(program, true)];
  program.terminal.aside(`${oneLine(name, 64)} of ${project.name} is used in place of yours in ${own.name}.`);
}

/** The tools of servers in a conversation, and their changes since they were mounted; `outputs` keeps their long results. */
export interface WatchedMount extends McpMount {
  readonly changes: ToolsChanges;
  outputs?: string | undefined;
}

/** Returns the servers with the revision that the user names, in place of their own. */
export function withProtocol(config: McpConfig, protocol: string | undefined): McpConfig {
  if (protocol === undefined) return config;
  const entries = Object.entries(config.mcpServers).map(([name, entry]) => [name, { ...entry, protocol }]);
  return { mcpServers: Object.fromEntries(entries) };
}

/** Mounts the servers that may start without a question; undefined where there are none. One line names the others. */
export async function mountAllowedServers(program: Program, protocol?: string): Promise<WatchedMount | undefined> {
  const { terminal } = program;
  try {
    const listed = await listServers(program);
    const allowed = listed.filter(({ state }) => state === "allowed");
    const waiting = listed.filter(({ state }) => state === "changed" || state === "not allowed yet");
    const names = waiting.map(({ name }) => oneLine(name, 64));
    if (names.length > 0) {
      const advice = `toolcrib mcp allow ${names.map(shellWord).join(" ")}`;
      terminal.aside(`Not used, as ${mcpConfigName} has them now: ${names.join(", ")}; ${advice} allows it.`);
    }
    for (const { name, state } of listed) if (state === replaced) noteReplaced(name, program);
    if (allowed.length === 0) return undefined;
    const config = { mcpServers: Object.fromEntries(allowed.map(({ name, server }) => [name, server])) };
    return await mount(withProtocol(config, protocol), program);
  } catch (error) {
    // Nobody has asked for them.
    terminal.aside(`No MCP server is used: ${messageOf(error)}`);
    return undefined;
  }
}

/** The state of a server of the user that one of this directory stands in for. */
const replaced = `the one of ${mcpConfigName} is used`;

export interface ListedServer {
  readonly name: string;
  readonly server: McpServerConfig;
  readonly from: string;
  /** `allowed` if it may start; else why not. */
  readonly state: string;
}

/** Lists the servers of this directory, then the user's own. */
export async function listServers(program: Place & Pick<Program, "trust">): Promise<ListedServer[]> {
  const [project, own] = [serversFile(program), serversFile(program, true)];
  const [config, ownConfig] = [await project.read(), await own.read()];
  const consents = await fileConsents(program.trust, program.cwd).read(config);
  const stateOf = (name: string, { disabled }: McpServerConfig): string => {
    const consent = consents.get(name) ?? "new";
    return disabled ? "disabled" : consent === "new" ? "not allowed yet" : consent;
  };
  const shown = Object.entries(config.mcpServers).map(([name, server]) => {
    return { name, server, from: project.name, state: stateOf(name, server) };
  });
  const allowed = shown.filter(({ state }) => state === "allowed").map(({ name, server }) => [name, server]);
  const joined = joinServers(ownConfig, { mcpServers: Object.fromEntries(allowed) });
  const shownOwn = Object.entries(ownConfig.mcpServers).map(([name, server]) => {
    const state = joined.replaced.includes(name) ? replaced : "allowed";
    return { name, server, from: own.name, state: server.disabled ? "disabled" : state };
  });
  return [...shown, ...shownOwn];
}

/** Mounts servers for a program that has asked its user. */
export async function mount(
  config: McpConfig,
  { terminal, env, folders, cwd }: Pick<Program, "terminal" | "env" | "folders" | "cwd">,
  options: { readonly signal?: AbortSignal; readonly resources?: boolean } = { resources: true },
): Promise<WatchedMount> {
  // Loaded for a server alone: the code that speaks with one takes longer to load than all the rest.
  const [{ mountMcp }, { ownToolStore }] = await Promise.all([import("@toolcrib/mcp"), import("./ownToolStore.ts")]);
  const changes = new ToolsChanges();
  const tools = await mountMcp(config, {
    ...options,
    store: ownToolStore(cwd, { folders, terminal }),
    logins: ownLogins(folders),
    environment: env,
    // A tool that is new is taken as it would be at the next start; one that has changed is not.
    accept: ({ accepted }) => accepted === undefined,
    spill: () => mounted.outputs,
    onToolsChanged: (change) => changes.send(change),
  });
  const mounted: WatchedMount = Object.assign(tools, { changes });
  for (const { message, code } of mounted.problems) {
    const isChange = code === "tool_changed" || code === "instructions_changed";
    const advice = isChange ? "; toolcrib mcp test --accept accepts the change" : "";
    terminal.aside(`${message}${advice}`);
  }
  return mounted;
}

/** Opens the user's consents to this directory's servers, with a note where nothing can be saved: what was done stands without it. */
export function notedConsents({ terminal, trust, cwd }: Pick<Program, "trust" | "cwd" | "terminal">): McpConsents {
  const consents = fileConsents(trust, cwd);
  return {
    read: consents.read,
    save: (entries) =>
      consents.save(entries).catch((error: Error) => {
        terminal.aside(`Your answer could not be saved for the next time: ${error.message}`);
      }),
  };
}

/**
 * Returns the servers that may be started: those allowed as they are, and those that the user allows now. One that would stand in
 * for a server of the user's `own` says so. Throws where there is nobody to ask.
 */
export async function allowedServers(
  config: McpConfig,
  program: Program,
  asker: Asker | undefined,
  own: McpConfig = { mcpServers: {} },
): Promise<McpConfig> {
  try {
    return await allowed(
      config,
      notedConsents(program),
      asker && ((question) => isAllowed(asker, question, own, program.folders)),
    );
  } catch (error) {
    // By its mark: who has no servers need not load their package.
    const { code, server } = (isMarked(error, "McpError") ? error : {}) as Partial<AnyMcpError>;
    if (code !== "not_allowed") throw error;
    const advice = `and there is no terminal to ask on; look with toolcrib mcp list, then toolcrib mcp allow ${shellWord(server ?? "")}`;
    throw new CliError("denied", `${messageOf(error)}, ${advice}`);
  }
}

async function isAllowed(
  asker: Asker,
  { name, entry, consent }: McpConsentQuestion,
  { mcpServers: own }: McpConfig,
  folders: Folders,
): Promise<boolean> {
  const stands = Object.hasOwn(own, name) ? "\n  in place of your own server of that name" : "";
  const isLoggedIn = "url" in entry && URL.canParse(entry.url) && (await ownLogins(folders).load(new URL(entry.url)));
  const login = isLoggedIn ? "\n  with your login there" : "";
  const description = `${describeServer(name, entry)}${login}${stands}`;
  const state = consent === "changed" ? "has changed since it was allowed" : "is not allowed yet";
  return askYesNo(asker, {
    lines: [`A server in ${mcpConfigName} of this folder ${state}:`, ...description.split("\n")],
    question: "Start it, now and in later conversations here?",
    tooLong: [
      `${mcpConfigName}: ${oneLine(name, 64)} is too long`,
      "read it in the file, then run toolcrib mcp allow NAME",
    ],
  });
}
