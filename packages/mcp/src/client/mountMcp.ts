import { checkOptions, type ExecutableTool, type KnownOptions } from "@toolcrib/core";
import { redactUrls } from "@toolcrib/core/text";
import { type AnyMcpError, isMcpError, McpError, reasonOf, shownName } from "../errors.ts";
import { type ListedTool, mountedName } from "../mapping.ts";
import type { OAuthStore } from "../oauth/oauthStore.ts";
import { type AcceptChange, MountedServer } from "./mountedServer.ts";
import { createMountedTool } from "./mountedTool.ts";
import { configDigest, type Environment, type McpConfig, resolveServer, serverEntries } from "./serverConfig.ts";
import type { McpToolStore } from "./toolStore.ts";

export interface MountMcpOptions {
  /** Keeps the accepted tools between runs. A server whose tools are known is started when one of them is first called. */
  store?: McpToolStore | undefined;
  /** Decides whether a tool whose description, schema or hints have changed is accepted. Default: it is not. */
  accept?: AcceptChange | undefined;
  /**
   * Names of servers whose hints (read-only, destructive, …) are used as traits: by policies, and to run calls side by side.
   * Default: none.
   */
  trust?: readonly string[] | undefined;
  /** Milliseconds a mounted tool may run. Default 60,000. */
  timeoutMs?: number | undefined;
  /** Milliseconds a server may take to start. Default 60,000: `npx` may have to download it. */
  startTimeoutMs?: number | undefined;
  /** Ends the servers when it fires. While they start, `mountMcp` rejects with its reason. */
  signal?: AbortSignal | undefined;
  /** What `${NAME}` in the configuration is filled in from. Default: the process's environment. */
  environment?: Environment | undefined;
  /** Logins at servers that ask for one, such as those of `createOAuthStore`. Default: none. */
  logins?: OAuthStore | undefined;
  /** Which protocol revisions to speak: `legacy` (default) up to 2025-11-25, `auto` also the newer ones. */
  versionNegotiation?: "legacy" | "auto" | { pin: string } | undefined;
  /** The name of the client to servers. Default `toolcrib`. */
  clientName?: string | undefined;
  /** Default `0.0.0`. */
  clientVersion?: string | undefined;
}

const knownOptions: KnownOptions<MountMcpOptions> = {
  store: true,
  accept: true,
  trust: true,
  timeoutMs: true,
  startTimeoutMs: true,
  signal: true,
  environment: true,
  logins: true,
  versionNegotiation: true,
  clientName: true,
  clientVersion: true,
};

/** The tools of mounted MCP servers. */
export interface McpMount extends AsyncDisposable {
  /** In the order of the configuration and of each server's list. */
  readonly tools: readonly ExecutableTool[];
  /** Why servers and tools could not be mounted; the others are. */
  readonly problems: readonly AnyMcpError[];
  /** Ends every server that was started. */
  close(): Promise<void>;
}

/**
 * Mounts MCP servers: their tools become tools for a registry, named `mcp__server__tool`. `config` is the `mcpServers` JSON of
 * other programs. A server that fails, or a tool that cannot be used, is reported in `problems`, and the rest is mounted. A
 * tool that has changed is left out, or its calls throw an McpError (`tool_changed`). Throws a TypeError for a config of
 * another shape.
 */
export async function mountMcp(config: McpConfig, options: MountMcpOptions = {}): Promise<McpMount> {
  checkMountOptions(options);
  const { timeoutMs = 60_000, signal } = options;
  signal?.throwIfAborted();
  const problems: AnyMcpError[] = [];
  const servers: MountedServer[] = [];
  for (const [name, entry] of serverEntries(config)) {
    try {
      servers.push(createServer(name, entry, options));
    } catch (error) {
      problems.push(asMcpError(name, error));
    }
  }
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    signal?.removeEventListener("abort", close);
    closing ??= Promise.allSettled(servers.map((server) => server.close())).then(() => undefined);
    return closing;
  };
  signal?.addEventListener("abort", close);
  const opened = await Promise.all(
    servers.map(async (server): Promise<{ server: MountedServer; tools: readonly ListedTool[] }> => {
      try {
        const { tools, problems: found } = await server.open();
        problems.push(...found);
        return { server, tools };
      } catch (error) {
        problems.push(asMcpError(server.name, error));
        return { server, tools: [] };
      }
    }),
  );
  if (signal?.aborted) {
    await close();
    throw signal.reason;
  }
  const tools = new Map<string, ExecutableTool>();
  for (const { server, tools: listed } of opened) {
    for (const tool of listed) {
      const name = mountedName(server.name, tool.name, (taken) => tools.has(taken));
      try {
        tools.set(name, createMountedTool(server, tool, name, timeoutMs));
      } catch (error) {
        problems.push(asMcpError(server.name, error));
      }
    }
  }
  return { tools: [...tools.values()], problems, close, [Symbol.asyncDispose]: close };
}

function checkMountOptions(options: MountMcpOptions): void {
  checkOptions<MountMcpOptions>("mountMcp", options, knownOptions);
  const refuse = (option: string, expected: string): never => {
    throw new TypeError(`mountMcp: ${option} must be ${expected}; leave it out for the default`);
  };
  const { trust = [], store, logins, accept, signal } = options;
  if (!Array.isArray(trust)) refuse("trust", "an array of names of servers");
  for (const name of ["timeoutMs", "startTimeoutMs"] as const) {
    const { [name]: limit = 1 } = options;
    if (typeof limit !== "number" || !(limit > 0)) refuse(name, "a number of milliseconds above 0");
  }
  if (accept !== undefined && typeof accept !== "function") refuse("accept", "a function that decides on a change");
  if (store !== undefined && (typeof store?.load !== "function" || typeof store.save !== "function"))
    refuse("store", "an object with load and save, such as that of fileToolStore");
  if (logins !== undefined && (typeof logins?.load !== "function" || typeof logins.exclusively !== "function"))
    refuse("logins", "an object with load, save and exclusively, such as that of createOAuthStore");
  if (signal !== undefined && typeof signal?.throwIfAborted !== "function") refuse("signal", "an AbortSignal");
  for (const name of ["clientName", "clientVersion"] as const)
    if (options[name] !== undefined && typeof options[name] !== "string") refuse(name, "a string");
}

function createServer(
  name: string,
  entry: unknown,
  {
    store,
    accept = () => false,
    trust = [],
    startTimeoutMs = 60_000,
    environment = process.env,
    logins,
    versionNegotiation,
    clientName = "toolcrib",
    clientVersion = "0.0.0",
  }: MountMcpOptions,
): MountedServer {
  return new MountedServer({
    name,
    target: resolveServer(name, entry, environment),
    config: configDigest(entry),
    store,
    accept,
    isTrusted: trust.includes(name),
    startTimeoutMs,
    logins,
    versionNegotiation,
    clientName,
    clientVersion,
  });
}

function asMcpError(server: string, error: unknown): AnyMcpError {
  if (isMcpError(error)) return error;
  const message = `MCP server ${shownName(server)} failed: ${redactUrls(reasonOf(error))}`;
  return new McpError("server_failed", server, message, { cause: error }, error);
}
