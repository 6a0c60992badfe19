import type { Approve, ExecutableTool } from "@toolcrib/core";
import {
  longestDelayMs,
  type OptionSpecs,
  option,
  type ReadOptions,
  readOptions,
  withDefault,
} from "@toolcrib/core/internal";
import { spillText } from "@toolcrib/kit/files";
import { redactUrls } from "@toolcrib/kit/text";
import { type AnyMcpError, isMcpError, McpError, reasonOf, shownName } from "../errors.ts";
import { type ListedTool, record } from "../mapping.ts";
import type { OAuthStore } from "../oauth/oauthStore.ts";
import { withEnvFile } from "./envFile.ts";
import { instructionsPrompt } from "./instructions.ts";
import { type AcceptChange, MountedServer, type MountedServerOptions, type ToolsChange } from "./mountedServer.ts";
import type { BoundText } from "./mountedTool.ts";
import { type McpToolsChange, MountedTools } from "./mountedTools.ts";
import { type McpPrompts, Prompts } from "./prompts.ts";
import type { Protocol } from "./protocol.ts";
import { createResourceTools } from "./resources.ts";
import {
  configDigest,
  type Environment,
  invalidEntry,
  type McpConfig,
  type ResolvedServer,
  resolveServer,
  serverEntries,
} from "./serverConfig.ts";
import { answerTimeoutMs, ServerQuestions } from "./serverQuestions.ts";
import { serverProblem } from "./toolErrors.ts";
import type { McpToolStore } from "./toolStore.ts";

export interface MountMcpOptions {
  /** Keeps the accepted tools between runs. A server whose tools are known is started when one of them is first called. */
  store?: McpToolStore | undefined;
  /**
   * Decides whether a tool is accepted whose description, schema or hints have changed, or that is new since the server was mounted (its
   * `accepted` is undefined). Default: it is not.
   */
  accept?: AcceptChange | undefined;
  /**
   * Called when tools of a server have changed: register its `tools`, and unregister those that are `withdrawn`. With it, tools are listed
   * as soon as a server says that they have changed.
   */
  onToolsChanged?: ((change: McpToolsChange) => void) | undefined;
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
  /** Names of servers whose tools are `deferred`: kept out of requests until `createToolSearch` finds them. Default: none. */
  deferred?: readonly string[] | undefined;
  /** Milliseconds a mounted tool may run. Default 60,000. */
  timeoutMs?: number | undefined;
  /** Milliseconds a server may take to start. Default 60,000: `npx` may have to download it. */
  startTimeoutMs?: number | undefined;
  /** Ends the servers when it fires. While they start, `mountMcp` rejects with its reason. */
  signal?: AbortSignal | undefined;
  /**
   * A folder that keeps results above 25 KB whole, of which the model gets the head, the tail and the path; or a function that returns it.
   * Nothing here deletes its files. Default: none, and what is above is lost, as the result says.
   */
  spill?: string | (() => string | undefined) | undefined;
  /** Adds the tools `list_resources` and `read_resource` over all servers. Default: false. */
  resources?: boolean | undefined;
  /** The variables that replace `${NAME}` in the configuration. Default: the process's environment. */
  environment?: Environment | undefined;
  /** The folder that `envFile` of an entry is relative to. Default: the working one; files read by `projectConfigFile` name it whole. */
  configDirectory?: string | undefined;
  /** Logins at servers that ask for one, such as those of `createOAuthStore`. Default: none. */
  logins?: OAuthStore | undefined;
  /**
   * The protocol revisions to speak: `legacy` up to 2025-11-25, `auto` also the newer ones. The `protocol` of an entry comes first.
   * Default: `legacy`, and `auto` for a server that speaks nothing else.
   */
  versionNegotiation?: Protocol | undefined;
  /** The name of the client to servers. Default `toolcrib`. */
  clientName?: string | undefined;
  /** Default `0.0.0`. */
  clientVersion?: string | undefined;
}

/** The most bytes of text of a server's result: a tenth of what our own tools may answer. */
const maxResultBytes: number = Math.floor((256 * 1024) / 10);
/** The same of a failure, with room for the notice. */
const maxErrorBytes = 7500;

const specs = {
  spill: {
    expected: "a folder, or a function that returns one",
    fits: (value: unknown) => (typeof value === "string" && value !== "") || typeof value === "function",
    otherwise: "none",
  },
  store: {
    ...option.withMethods("load", "save"),
    expected: "an object with load and save, such as that of fileToolStore",
  },
  accept: withDefault({ ...option.call, expected: "a function that decides on a change" }, () => false),
  onToolsChanged: { ...option.call, expected: "a function that is told of changed tools" },
  approve: { ...option.call, expected: "a function that answers a question" },
  trust: withDefault<readonly string[]>({ ...option.texts, expected: "an array of names of servers" }, []),
  deferred: withDefault<readonly string[]>({ ...option.texts, expected: "an array of names of servers" }, []),
  timeoutMs: withDefault(option.positive, 60_000),
  startTimeoutMs: withDefault(option.positive, 60_000),
  signal: option.signal,
  resources: withDefault(option.flag, false),
  environment: option.object,
  configDirectory: option.text,
  logins: {
    ...option.withMethods("load", "exclusively"),
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
  /** The tools as they are now, in the order of the configuration and of each server's list; those that came later stand last. */
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
  const folder = (): string | undefined => (typeof read.spill === "function" ? read.spill() : read.spill);
  const bound: BoundText = (text, tool, isError = false) =>
    spillText(text, tool, { directory: folder(), bytes: isError ? maxErrorBytes : maxResultBytes });
  const mounted = new MountedTools(timeoutMs, bound);
  const { onToolsChanged } = read;
  /** The changes that came before all servers had started. */
  let early: (() => void)[] | undefined = [];
  const onChange = (server: MountedServer, change: ToolsChange): void => {
    if (early) early.push(() => problems.push(...mounted.change(server, change).problems));
    else onToolsChanged?.(mounted.change(server, change));
  };
  for (const [name, entry] of serverEntries(config)) {
    try {
      const target = await withEnvFile(
        resolveServer(name, entry, read.environment ?? process.env),
        read.configDirectory ?? process.cwd(),
        (problem) => invalidEntry(name, problem),
      );
      problems.push(...target.unused.map((problem) => serverProblem("unused_setting", name, problem)));
      servers.push(createServer(name, entry, target, { ...read, ...(onToolsChanged && { onChange }) }));
    } catch (error) {
      problems.push(asMcpError(name, error));
    }
  }
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    signal?.removeEventListener("abort", close);
    closing ??= Promise.allSettled(servers.map((server) => server.remote.close())).then(() => undefined);
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
  problems.push(...mounted.add(opened).problems);
  for (const apply of early) apply();
  early = undefined;
  const patienceMs = Math.min(read.timeoutMs, longestDelayMs);
  // A list must be whole before its own time is up, whichever server is silent.
  const resources = read.resources ? createResourceTools(servers, timeoutMs, Math.floor(patienceMs * 0.8), bound) : [];
  const prompts = new Prompts(servers, patienceMs);
  return {
    get tools() {
      return [...mounted.all, ...resources];
    },
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
  target: ResolvedServer,
  { approve, trust, deferred, ...options }: Read & Pick<MountedServerOptions, "onChange">,
): MountedServer {
  return new MountedServer({
    ...options,
    name,
    target,
    // A choice for one run must not make the next one start the server.
    config: configDigest({ ...record(entry), protocol: undefined }),
    questions: approve && new ServerQuestions(name, approve),
    isTrusted: trust.includes(name),
    isDeferred: deferred.includes(name),
  });
}

function asMcpError(server: string, error: unknown): AnyMcpError {
  if (isMcpError(error)) return error;
  const message = `MCP server ${shownName(server)} failed: ${redactUrls(reasonOf(error))}`;
  return new McpError("server_failed", server, message, { cause: error }, error);
}
