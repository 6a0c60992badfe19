import type { Client, VersionNegotiationOptions } from "@modelcontextprotocol/client";
import { clip } from "@toolcrib/core/text";
import { McpError, reasonOf } from "./errors.ts";
import type { ListedTool } from "./mapping.ts";
import { openTransport } from "./openTransport.ts";
import { type CallWatch, callTool, listTools } from "./remoteCalls.ts";
import type { ResolvedServer } from "./serverConfig.ts";

export interface RemoteOptions {
  /** Milliseconds for a server to start and answer its first request. */
  startTimeoutMs: number;
  clientName: string;
  clientVersion: string;
  versionNegotiation: VersionNegotiationOptions["mode"];
  /** Told when the tools may be others than before: the server has started, or says so. */
  onToolsChanged: () => void;
}

interface Connected {
  client: Client;
  /** Ends the session where there is one, and the process where we started it. */
  end: () => Promise<void>;
  /** The last lines that the server wrote to standard error. */
  errors: () => string;
}

/** One MCP server: started at the first use, and again at the next use after it has ended. */
export class RemoteServer {
  readonly name: string;
  readonly #target: ResolvedServer;
  readonly #options: RemoteOptions;
  #connecting: Promise<Connected> | undefined;
  #closed = false;

  constructor(name: string, target: ResolvedServer, options: RemoteOptions) {
    this.name = name;
    this.#target = target;
    this.#options = options;
  }

  /** Starts the server unless it runs. Rejects with an McpError (`server_failed`). */
  async start(): Promise<void> {
    await this.#connect();
  }

  /** Every tool that the server lists, as it describes them. */
  listTools(): Promise<ListedTool[]> {
    return this.#request((client) => listTools(client, this.#options.startTimeoutMs));
  }

  /** The result of `tools/call` as the server sent it. Rejects with what it refuses, or with an McpError where it is gone. */
  callTool(name: string, args: Record<string, unknown>, call: CallWatch = {}): Promise<unknown> {
    return this.#request((client) => callTool(client, name, args, call));
  }

  /** Ends the server: closes its input, then signals it where it stays. It is not started again. */
  async close(): Promise<void> {
    this.#closed = true;
    const connected = await this.#connecting?.catch(() => undefined);
    await connected?.end();
  }

  async #request<Result>(send: (client: Client) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      const connected = await this.#connect();
      try {
        return await send(connected.client);
      } catch (error) {
        const { code, status } = error as { code?: unknown; status?: unknown };
        if (code === "CONNECTION_CLOSED" || code === "NOT_CONNECTED") throw this.#ended(connected, error);
        if (error instanceof TypeError && error.cause !== undefined) {
          const message = `MCP server ${this.name} was not reached, or broke off: ${reasonOf(error)}`;
          throw new McpError("server_failed", this.name, message, { cause: error }, error);
        }
        if (status !== 404 || attempt > 1) throw error;
        // The server has forgotten the session, so it has not run the request: a new session may.
        await connected.client.close();
      }
    }
  }

  #ended(connected: Connected, cause: unknown): McpError {
    const message = `MCP server ${this.name} ended during the call, which may have completed; the next call starts it again`;
    return new McpError("server_failed", this.name, `${message}${connected.errors()}`, { cause }, cause);
  }

  #connect(): Promise<Connected> {
    if (this.#closed) {
      const message = `MCP server ${this.name} has been closed`;
      return Promise.reject(new McpError("server_failed", this.name, message, {}));
    }
    if (!this.#connecting) {
      const forget = (): void => {
        if (this.#connecting === connecting) this.#connecting = undefined;
      };
      const connecting = this.#start(forget);
      this.#connecting = connecting;
      connecting.catch(forget);
    }
    return this.#connecting;
  }

  async #start(onEnd: () => void): Promise<Connected> {
    const { clientName, clientVersion, startTimeoutMs, versionNegotiation, onToolsChanged } = this.#options;
    const { Client } = await import("@modelcontextprotocol/client");
    const client = new Client(
      { name: clientName, version: clientVersion },
      {
        ...(versionNegotiation === undefined ? {} : { versionNegotiation: { mode: versionNegotiation } }),
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
      },
    );
    const { transport, endSession, errors } = await openTransport(this.#target);
    client.onclose = onEnd;
    try {
      await client.connect(transport, { timeout: startTimeoutMs });
      onToolsChanged();
      const end = async (): Promise<void> => {
        await endSession().catch(() => undefined);
        await client.close();
      };
      return { client, end, errors };
    } catch (cause) {
      await transport.close().catch(() => undefined);
      const hint = this.#target.kind === "command" ? "check its command and args" : "check its url and headers";
      const message = `MCP server ${this.name} did not start: ${clip(reasonOf(cause), 500)} (${hint})${errors()}`;
      throw new McpError("server_failed", this.name, message, { cause }, cause);
    }
  }
}
