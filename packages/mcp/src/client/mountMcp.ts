import type { Approve, ExecutableTool } from "@toolcrib/core";
import {
  longestDelayMs,
  type OptionSpecs,
  option,
  type ReadOptions,
  readOptions,
  withDefault,
  withMethods,
} from "@toolcrib/core/internal";
import { redactUrls } from "@toolcrib/kit/text";
import { type AnyMcpError, isMcpError, McpError, reasonOf, shownName } from "../errors.ts";
import { type ListedTool, mountedName } from "../mapping.ts";
import type { OAuthStore } from "../oauth/oauthStore.ts";
import { instructionsPrompt } from "./instructions.ts";
import { type AcceptChange, MountedServer } from "./mountedServer.ts";
import { createMountedTool } from "./mountedTool.ts";
import { type McpPrompts, Prompts } from "./prompts.ts";
import { createResourceTools } from "./resources.ts";
import { configDigest, type Environment, type McpConfig, resolveServer, serverEntries } from "./serverConfig.ts";
import { answerTimeoutMs, ServerQuestions } from "./serverQuestions.ts";
import type { McpToolStore } from "./toolStore.ts";

export interface MountMcpOptions {
  /** Keeps the accepted tools between runs. A server whose tools are known is started when one of them is first called. */
  store?: McpToolStore | undefined;
  /** Decides whether a tool whose description, schema or hints have changed is accepted. Default: it is not. */
  accept?: AcceptChange | undefined;
  /**
   * Answers the questions that servers ask by elicitation about a running call. With it, a server's tools run one at a time, and
   * each has ten minutes more than `timeoutMs`. Default: servers are told that nobody can be asked.
   */
  approve?: Approve | undefined;
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
  /** Adds the tools `list_resources` and `read_resource` over all servers. Default: false. */
  resources?: boolean | undefined;
  /** The variables that replace `${NAME}` in the configuration. Default: the process's environment. */
  environment?: Environment | undefined;
  /** Logins at servers that ask for one, such as those of `createOAuthStore`. Default: none. */
  logins?: OAuthStore | undefined;
  /** The protocol revisions to speak: `legacy` (default) up to 2025-11-25, `auto` also the newer ones. */
  versionNegotiation?: "legacy" | "auto" | { pin: string } | undefined;
  /** The name of the client to servers. Default `toolcrib`. */
  clientName?: string | undefined;
  /** Default `0.0.0`. */
  clientVersion?: string | undefined;
}

const specs = {
  store: { ...withMethods("load", "save"), expected: "an object with load and save, such as that of fileToolStore" },
  accept: withDefault({ ...option.call, expected: "a function that decides on a change" }, () => false),
  approve: { ...option.call, expected: "a function that answers a question" },
  trust: withDefault<readonly string[]>({ ...option.texts, expected: "an array of names of servers" }, []),
  timeoutMs: withDefault(option.positive, 60_000),
  startTimeoutMs: withDefault(option.positive, 60_000),
  signal: option.signal,
  resources: withDefault(option.flag, false),
  environment: option.object,
  logins: {
    ...withMethods("load", "exclusively"),
    expected: "an object with load, save and exclusively, such as that of createOAuthStore",
  },
  versionNegotiation: true,
  clientName: withDefault(option.text, "toolcrib"),
  clientVersion: withDefault(option.text, "0.0.0"),
} satisfies OptionSpecs<MountMcpOptions>;

/** Options of the requests about prompts. */
export interface PromptOptions {
  readonly signal?: AbortSignal | undefined;
}

type Read = ReadOptions<MountMcpOptions, typeof specs>;

/** The tools of mounted MCP servers. */
export interface McpMount extends AsyncDisposable {
  /** In the order of the configuration and of each server's list. */
  readonly tools: readonly ExecutableTool[];
  /** The reasons why servers and tools could not be mounted; the others are. */
  readonly problems: readonly AnyMcpError[];
  /**
   * Gives the servers' instructions for the system prompt: each line marked as a server's words, at most 4 KB of a server and 16 KB in
   * all; "" where they say nothing. Instructions that have changed since they were accepted are left out.
   */
  readonly instructions: string;
  /** Lists the prompts of all servers, which are started for it. */
  prompts(options?: PromptOptions): Promise<McpPrompts>;
  /** Has a server write one of its prompts: text for a message of the user, at most 50 KB. Rejects for a name that no server lists. */
  writePrompt(name: string, args?: Readonly<Record<string, string>>, options?: PromptOptions): Promise<string>;
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
  const read = readOptions("mountMcp", options, specs);
  const { approve, signal } = read;
  const timeoutMs = read.timeoutMs + (approve ? answerTimeoutMs : 0);
  signal?.throwIfAborted();
  const problems: AnyMcpError[] = [];
  const servers: MountedServer[] = [];
  for (const [name, entry] of serverEntries(config)) {
    try {
      servers.push(createServer(name, entry, read));
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
  const patienceMs = Math.min(read.timeoutMs, longestDelayMs);
  // A list must be whole before its own time is up, whichever server is silent.
  const resources = read.resources ? createResourceTools(servers, timeoutMs, Math.floor(patienceMs * 0.8)) : [];
  for (const tool of resources) tools.set(tool.name, tool);
  const prompts = new Prompts(servers, patienceMs);
  return {
    tools: [...tools.values()],
    problems,
    instructions: instructionsPrompt(servers),
    prompts: (options = {}) => prompts.list(options),
    writePrompt: (name, args = {}, options = {}) => prompts.write(name, args, options),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function createServer(
  name: string,
  entry: unknown,
  { approve, trust, environment = process.env, ...options }: Read,
): MountedServer {
  return new MountedServer({
    ...options,
    name,
    target: resolveServer(name, entry, environment),
    config: configDigest(entry),
    questions: approve && new ServerQuestions(name, approve),
    isTrusted: trust.includes(name),
  });
}

function asMcpError(server: string, error: unknown): AnyMcpError {
  if (isMcpError(error)) return error;
  const message = `MCP server ${shownName(server)} failed: ${redactUrls(reasonOf(error))}`;
  return new McpError("server_failed", server, message, { cause: error }, error);
}
