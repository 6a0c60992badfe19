import { setTimeout as sleep } from "node:timers/promises";
import type { Client, VersionNegotiationOptions } from "@modelcontextprotocol/client";
import { clip, isObject } from "@toolcrib/core/text";
import { isMcpError, McpError, reasonOf, shownName } from "../errors.ts";
import { createOAuthSession, type OAuthSession } from "../oauth/oauthSession.ts";
import type { OAuthStore } from "../oauth/oauthStore.ts";
import type { ListedTools } from "./listedTools.ts";
import { createRedact, type Redact, redactError } from "./redactErrors.ts";
import type { ResolvedServer } from "./serverConfig.ts";
import type { ServerQuestions } from "./serverQuestions.ts";
import { type CallOptions, callTool, listTools, sendRequest } from "./toolRequests.ts";
import { createTransport, type ServerTransport } from "./transport/createTransport.ts";

export interface RemoteOptions {
  /** Milliseconds for a server to start and answer its first request. */
  startTimeoutMs: number;
  clientName: string;
  clientVersion: string;
  versionNegotiation?: VersionNegotiationOptions["mode"];
  /** Logins for servers at an address. */
  logins?: OAuthStore | undefined;
  /** Answers what the server asks; without it the server cannot ask. */
  questions: ServerQuestions | undefined;
  /** Called when the server says that its tools have changed. */
  onToolsChanged: () => void;
}

/** A running server. Calls reject with the error of the server, or with an McpError when it has ended. */
export interface RemoteConnection {
  /** Returns the tools that the server lists, as it describes them, and what is left out. */
  listTools(): Promise<ListedTools>;
  /** Returns the result of `tools/call` as the server sent it. */
  callTool(name: string, args: Record<string, unknown>, call: CallOptions): Promise<unknown>;
  /** Returns the result of another request as the server sent it. */
  request(method: string, params: Record<string, unknown>, call: Pick<CallOptions, "signal">): Promise<unknown>;
  /** Gives the server's instructions; undefined if there are none. */
  readonly instructions: string | undefined;
  offers(capability: "resources" | "prompts"): boolean;
  /** Ends the session where there is one, and the process where we started it. */
  end(): Promise<void>;
}

/** Milliseconds that a server over HTTP may take to answer that its session is over. */
const endSessionMs = 2000;

/** The server does not know the session, so the request did not run and may be sent on a new connection. */
export class SessionExpired extends Error {}

/** One MCP server: started at the first use, and again at the next use after it has ended. */
export class RemoteServer {
  readonly name: string;
  readonly #target: ResolvedServer;
  readonly #options: RemoteOptions;
  readonly #session: OAuthSession | undefined;
  #connecting: Promise<RemoteConnection> | undefined;
  readonly #closing = new AbortController();
  /** Removes the secrets of the entry from a text. */
  readonly redact: Redact;

  constructor(name: string, target: ResolvedServer, options: RemoteOptions) {
    this.name = name;
    this.#target = target;
    this.#session = sessionOf(name, target, options.logins);
    this.redact = createRedact(target, this.#session?.secrets);
    this.#options = options;
  }

  /** Returns the open connection, or a new one. Rejects with an McpError (`server_failed`). */
  connect(): Promise<RemoteConnection> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#failed("has been closed"));
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

  /** Ends the server, also while it starts. It is not started again. */
  async close(): Promise<void> {
    this.#closing.abort();
    const connection = await this.#connecting?.catch(() => undefined);
    await connection?.end();
  }

  async #start(onEnd: () => void): Promise<RemoteConnection> {
    const { clientName, clientVersion, startTimeoutMs, versionNegotiation, questions, onToolsChanged } = this.#options;
    const { Client } = await import("@modelcontextprotocol/client");
    const client = new Client(
      { name: clientName, version: clientVersion },
      {
        ...(versionNegotiation === undefined ? {} : { versionNegotiation: { mode: versionNegotiation } }),
        ...(questions && { capabilities: { elicitation: { form: {} } } }),
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
      },
    );
    if (questions)
      client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
        questions.answer(params, mcpReq.signal),
      );
    const { transport, endSession, errors } = await this.#open();
    client.onclose = onEnd;
    const { signal } = this.#closing;
    // The SDK checks the signal only after it has sent its first request.
    const stop = (): void => void transport.close();
    signal.addEventListener("abort", stop);
    try {
      signal.throwIfAborted();
      await client.connect(transport, { timeout: startTimeoutMs, signal });
    } catch (cause) {
      await transport.close().catch(() => undefined);
      if (signal.aborted) throw this.#failed("has been closed");
      if (isMcpError(cause)) throw cause;
      const hint = this.#target.kind === "command" ? "check its command and args" : "check its url and headers";
      throw this.#failed(`did not start: ${clip(reasonOf(cause), 500)} (${hint})${errors()}`, cause);
    } finally {
      signal.removeEventListener("abort", stop);
    }
    return {
      listTools: () => this.#explained(client, errors, listTools(client, startTimeoutMs)),
      callTool: (name, args, call) => this.#explained(client, errors, callTool(client, name, args, call)),
      request: (method, params, call) => this.#explained(client, errors, sendRequest(client, method, params, call)),
      instructions: client.getInstructions(),
      offers: (capability) => client.getServerCapabilities()?.[capability] !== undefined,
      end: async () => {
        const limit = sleep(endSessionMs, undefined, { ref: false });
        await Promise.race([endSession().catch(() => undefined), limit]);
        await client.close();
      },
    };
  }

  async #open(): Promise<ServerTransport> {
    try {
      return await createTransport(this.#target, this.#session);
    } catch (cause) {
      throw this.#failed(`did not start: ${reasonOf(cause)}`, cause);
    }
  }

  /** Resolves to the answer of the server, or rejects with an error that says what happened to the server. */
  async #explained<Answer>(client: Client, errors: () => string, answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      if (isMcpError(error)) throw error;
      const { code, status, name, cause } = isObject(error) ? error : {};
      if (code === "CONNECTION_CLOSED" || code === "NOT_CONNECTED") {
        const what = "ended during the call, which may have completed; the next call starts it again";
        throw this.#failed(`${what}${errors()}`, error);
      }
      if (name === "TypeError" && cause !== undefined) {
        throw this.#failed(`could not be reached, or the connection broke: ${reasonOf(error)}`, error);
      }
      if (status !== 404) throw redactError(error, this.redact);
      await client.close();
      throw new SessionExpired(`MCP server ${this.name} does not know the session any more`);
    }
  }

  #failed(what: string, reason?: unknown): McpError {
    const cause = redactError(reason, this.redact);
    const details = cause === undefined ? {} : { cause };
    const message = `MCP server ${shownName(this.name)} ${this.redact(what)}`;
    return new McpError("server_failed", this.name, message, details, cause);
  }
}

/** Returns the session of a server that may ask for a login. An entry with a header of its own for that is taken at its word. */
function sessionOf(name: string, target: ResolvedServer, logins: OAuthStore | undefined): OAuthSession | undefined {
  if (!logins || target.kind !== "url") return undefined;
  const isOwn = Object.keys(target.headers).some((header) => header.toLowerCase() === "authorization");
  return isOwn ? undefined : createOAuthSession(name, target.url, logins);
}
