import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { AgentConnection, AgentContext, ClientCapabilities, McpServer } from "@agentclientprotocol/sdk";
import { showLine } from "@toolcrib/core/internal";
import { messageOf } from "@toolcrib/core/text";
import { invalidParams, sessionNotFound } from "./errors.ts";
import { LiveSession } from "./liveSession.ts";
import type { AcpMcpServer, AcpSession, AcpSessionRequest } from "./types.ts";

/** A maker of sessions. */
export interface SessionSource {
  createSession(request: AcpSessionRequest): Promise<AcpSession> | AcpSession;
  openSession?:
    | ((id: string, request: AcpSessionRequest) => Promise<AcpSession | undefined> | AcpSession | undefined)
    | undefined;
}

/** The sessions of one connection. */
export class Sessions {
  readonly #options: SessionSource;
  readonly #live: Map<string, LiveSession> = new Map();
  /** The last opening or closing, by the id of the session: the next of an id begins when the one before has ended. */
  readonly #last: Map<string | symbol, Promise<unknown>> = new Map();
  #connection: AgentConnection | undefined;
  capabilities: ClientCapabilities = {};

  constructor(options: SessionSource) {
    this.#options = options;
  }

  start(connection: AgentConnection): void {
    this.#connection = connection;
  }

  find(id: string): LiveSession | undefined {
    return this.#live.get(id);
  }

  get(id: string): LiveSession {
    const live = this.find(id);
    if (!live) throw sessionNotFound(id);
    return live;
  }

  /** Opens a session for a client; with an `id` again. */
  open(given: Parameters<typeof readSessionRequest>[0], client: AgentContext, id?: string): Promise<LiveSession> {
    return this.#inTurn(id ?? Symbol("new"), async () => {
      const { createSession, openSession } = this.#options;
      const gone = this.#connection?.signal ?? AbortSignal.abort();
      const request = await readSessionRequest(given, gone);
      // The file of a session is open once.
      if (id !== undefined) await this.#close(id);
      const session = await (id === undefined ? createSession(request) : openSession?.(id, request));
      if (!session) throw sessionNotFound(id ?? "");
      const live = new LiveSession(session, client, this.capabilities, gone);
      this.#live.set(session.id, live);
      return live;
    });
  }

  /** Closes a session; does nothing if it is not open. */
  close(id: string): Promise<void> {
    return this.#inTurn(id, () => this.#close(id));
  }

  /** Closes all sessions, also those that are being opened. */
  async closeAll(): Promise<void> {
    await Promise.allSettled(this.#last.values());
    await Promise.allSettled([...this.#live.keys()].map((id) => this.close(id)));
  }

  async #close(id: string): Promise<void> {
    const live = this.#live.get(id);
    this.#live.delete(id);
    await live?.close();
  }

  #inTurn<Result>(id: string | symbol, task: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(id) ?? Promise.resolve();
    const running = before.then(task, task);
    this.#last.set(id, running);
    return running.finally(() => {
      if (this.#last.get(id) === running) this.#last.delete(id);
    });
  }
}

interface GivenRequest {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[] | undefined;
  readonly mcpServers?: readonly McpServer[] | undefined;
}

/** Checks what a client asks for. Throws in words for a directory that is not there, and for a server that cannot be mounted. */
async function readSessionRequest(given: GivenRequest, signal: AbortSignal): Promise<AcpSessionRequest> {
  const { cwd, additionalDirectories = [], mcpServers = [] } = given;
  const directory = await realDirectory("cwd", cwd);
  const roots = [directory];
  for (const more of additionalDirectories) roots.push(await realDirectory("additionalDirectories", more));
  return { cwd: directory, roots: [...new Set(roots)], mcpServers: serversOf(mcpServers), signal };
}

/** Returns the path without links, as programs that are started there see it. */
async function realDirectory(field: string, path: string): Promise<string> {
  const refuse = (why: string): Error => invalidParams(`${field}: ${showLine(path)} ${why}`);
  if (!isAbsolute(path)) throw refuse("is not an absolute path");
  if (path.includes("\0")) throw refuse("holds a NUL character");
  const stats = await stat(path).catch((error: unknown) => {
    throw refuse(`cannot be opened: ${messageOf(error).split(",", 1)[0]}`);
  });
  if (!stats.isDirectory()) throw refuse("is not a directory");
  return realpath(path);
}

function serversOf(servers: readonly McpServer[]): Record<string, AcpMcpServer> {
  const named = new Map<string, AcpMcpServer>();
  for (const server of servers) {
    const { name } = server;
    if (named.has(name)) throw invalidParams(`mcpServers: two servers are named ${showLine(name)}`);
    named.set(name, serverOf(server));
  }
  return Object.fromEntries(named);
}

function serverOf(server: McpServer): AcpMcpServer {
  const pairs = (list: readonly { name: string; value: string }[]): Record<string, string> =>
    Object.fromEntries(list.map(({ name, value }) => [name, value]));
  if (!("type" in server)) return { command: server.command, args: [...server.args], env: pairs(server.env) };
  if (server.type === "http") return { type: "http", url: server.url, headers: pairs(server.headers) };
  throw invalidParams(`mcpServers: ${showLine(server.name)} uses the transport SSE; use http or a command`);
}
