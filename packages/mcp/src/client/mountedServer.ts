import { type ExecutableTool, isToolError, type ToolCallInfo, ToolRegistry, toolOutput } from "@toolcrib/core";
import { withoutControls } from "@toolcrib/core/text";
import { McpError, reasonOf, shownName } from "../errors.ts";
import { failureReason, fromCallResult, type ListedTool, toParameters, toTraits } from "../mapping.ts";
import { changedTools, fingerprint, type McpToolChange } from "./fingerprint.ts";
import { type RemoteConnection, type RemoteOptions, RemoteServer, SessionExpired } from "./remoteServer.ts";
import type { ResolvedServer } from "./serverConfig.ts";
import type { KnownTool, McpToolStore } from "./toolStore.ts";

export type AcceptChange = (change: McpToolChange) => boolean | Promise<boolean>;

export interface MountedServerOptions extends Omit<RemoteOptions, "onToolsChanged"> {
  name: string;
  target: ResolvedServer;
  /** Digest of the server's entry. */
  config: string;
  isTrusted: boolean;
  store: McpToolStore | undefined;
  accept: AcceptChange;
}

/** Tools remembered of a server that it lists no more: coming back changed, they are no new ones. */
const mostGone = 1000;

/** A server whose tools are held to what was accepted of them. */
export class MountedServer {
  readonly name: string;
  /** Whether its hints are taken as facts. */
  readonly isTrusted: boolean;
  readonly #remote: RemoteServer;
  readonly #options: MountedServerOptions;
  #accepted: readonly KnownTool[] = [];
  #refused = new Map<string, McpError>();
  /** How often the server has said that its tools changed. */
  #changes = 0;
  /** The connection whose tools were compared, and after how many changes. */
  #checked: { connection: RemoteConnection; changes: number } | undefined;
  #checking: { connection: RemoteConnection; done: Promise<void> } | undefined;
  #leftOut: McpError[] = [];
  #unsaved: McpError | undefined;

  constructor(options: MountedServerOptions) {
    this.name = options.name;
    this.isTrusted = options.isTrusted;
    this.#options = options;
    this.#remote = new RemoteServer(options.name, options.target, {
      ...options,
      onToolsChanged: () => {
        this.#changes += 1;
      },
    });
  }

  /**
   * The tools as accepted, and what is wrong with others. The server is only started where its tools are not known from an
   * earlier run with the same entry.
   */
  async open(): Promise<{ tools: readonly ListedTool[]; problems: McpError[] }> {
    const known = await this.#options.store?.load(this.name).catch((cause: unknown) => {
      throw this.#storeFailed("could not be read", cause);
    });
    this.#accepted = known?.tools ?? [];
    if (known?.config !== this.#options.config) await this.#check(await this.#remote.connect());
    return {
      tools: this.#accepted.filter((tool) => !tool.gone && !this.#refused.has(tool.name)),
      problems: [...this.#refused.values(), ...this.#leftOut, ...(this.#unsaved ? [this.#unsaved] : [])],
    };
  }

  /** Calls a tool of the server if it still is what was accepted. */
  async call(tool: string, args: Record<string, unknown>, call: ToolCallInfo): Promise<unknown> {
    try {
      return await this.#call(tool, args, call);
    } catch (error) {
      if (!(error instanceof SessionExpired)) throw error;
      return this.#call(tool, args, call);
    }
  }

  close(): Promise<void> {
    return this.#remote.close();
  }

  /** `text` without the secrets of the server's entry. */
  redact(text: string): string {
    return this.#remote.redact(text);
  }

  /** Looks at the very connection that the call goes to: a server that was started anew may be another. */
  async #call(tool: string, args: Record<string, unknown>, call: ToolCallInfo): Promise<unknown> {
    const connection = await this.#remote.connect();
    if (this.#checked?.connection !== connection || this.#checked.changes !== this.#changes) {
      await this.#check(connection);
    }
    const refused = this.#refused.get(tool);
    if (refused) throw refused;
    return connection.callTool(tool, args, call);
  }

  #check(connection: RemoteConnection): Promise<void> {
    if (this.#checking?.connection !== connection) {
      const done = this.#compare(connection).finally(() => {
        if (this.#checking?.done === done) this.#checking = undefined;
      });
      this.#checking = { connection, done };
    }
    return this.#checking.done;
  }

  async #compare(connection: RemoteConnection): Promise<void> {
    const changes = this.#changes;
    const { tools: found, leftOut } = await connection.listTools();
    const refused = new Map<string, McpError>();
    this.#leftOut = [];
    for (const { tool, problem } of leftOut) {
      if (tool === undefined) this.#leftOut.push(toolsLeftOut(this.name, problem));
      else refused.set(tool, invalidTool(this.name, tool, problem));
    }
    const kept = new Map<string, ListedTool>();
    for (const change of changedTools(this.name, this.#accepted, found)) {
      if (await this.#options.accept(change)) continue;
      refused.set(change.found.name, toolChanged(change));
      kept.set(change.found.name, change.accepted);
    }
    this.#refused = refused;
    const names = new Set(found.map((tool) => tool.name));
    const missing = this.#accepted.filter((tool) => !names.has(tool.name)).slice(0, mostGone);
    this.#accepted = [
      ...found.map((tool) => claimsOf(kept.get(tool.name) ?? tool)),
      ...missing.map((tool) => ({ ...claimsOf(tool), gone: true as const })),
    ];
    this.#checked = { connection, changes };
    // With a refused tool the entry stays unknown, so that the next run looks again and tells again.
    const config = refused.size + this.#leftOut.length > 0 ? "" : this.#options.config;
    try {
      await this.#options.store?.save(this.name, { config, tools: [...this.#accepted] });
    } catch (cause) {
      this.#unsaved = this.#storeFailed("could not be kept, to tell when they change", cause);
    }
  }

  #storeFailed(what: string, cause: unknown): McpError {
    const message = `What the tools of the MCP server ${shownName(this.name)} are ${what}: ${reasonOf(cause)}`;
    return new McpError("store_failed", this.name, message, { cause }, cause);
  }
}

function claimsOf({ name, description, inputSchema, annotations }: ListedTool): ListedTool {
  return { name, description, inputSchema, annotations };
}

function toolChanged({ server, accepted, found }: McpToolChange): McpError {
  const message =
    `Tool ${shownName(found.name)} of the MCP server ${shownName(server)} is not what it was when it was accepted: its description, schema or ` +
    "hints have changed; look at them and accept the change to use it again";
  const details = { tool: found.name, accepted: fingerprint(accepted), found: fingerprint(found) };
  return new McpError("tool_changed", server, message, details);
}

function invalidTool(server: string, tool: string, problem: string, cause?: unknown): McpError {
  const message = `Tool ${shownName(tool)} of the MCP server ${shownName(server)} is left out: ${problem}`;
  return new McpError("invalid_tool", server, message, { tool, problem }, cause);
}

function toolsLeftOut(server: string, problem: string): McpError {
  return new McpError("tools_left_out", server, `MCP server ${shownName(server)}: ${problem}`, { problem });
}

/** A tool of a mounted server under `name`. Throws an McpError (`invalid_tool`) where a registry would refuse it. */
export function createMountedTool(
  server: MountedServer,
  tool: ListedTool,
  name: string,
  timeoutMs: number,
): ExecutableTool {
  const description = typeof tool.description === "string" ? withoutControls(tool.description).trim() : "";
  const hints = toTraits(tool.annotations);
  const mounted: ExecutableTool = {
    // What a server says of itself is no reason to skip a question, nor to run calls side by side.
    ...(server.isTrusted && hints),
    hints,
    origin: `mcp:${server.name}`,
    name,
    timeoutMs,
    getSchema: () => ({
      type: "function",
      function: {
        name,
        description: description || `The tool ${shownName(tool.name)} of the MCP server ${shownName(server.name)}.`,
        parameters: toParameters(tool.inputSchema),
      },
    }),
    async execute(args, call = {}) {
      const { text, rich, isError } = fromCallResult(await server.call(tool.name, args, call));
      if (isError) throw new Error(server.redact(failureReason(tool.name, text)));
      const output = text || "(no output)";
      return rich.length === 0 ? output : toolOutput(output, rich);
    },
  };
  try {
    new ToolRegistry().register(mounted);
    return mounted;
  } catch (cause) {
    const problem = isToolError(cause) && cause.code === "invalid_tool" ? cause.details.problem : String(cause);
    throw invalidTool(server.name, tool.name, problem, cause);
  }
}
