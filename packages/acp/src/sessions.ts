import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { setImmediate as turnOfLoop } from "node:timers/promises";
import type {
  AgentConnection,
  AgentContext,
  ClientCapabilities,
  ContentBlock,
  McpServer,
  PromptResponse,
} from "@agentclientprotocol/sdk";
import { showLine } from "@toolcrib/core/internal";
import { messageOf } from "@toolcrib/core/text";
import { type Explain, invalidParams, nothingToOpen, sessionNotFound, toRequestError, turnRuns } from "./errors.ts";
import { LiveSession } from "./liveSession.ts";
import type { AcpMcpServer, AcpSession, AcpSessionRequest } from "./types.ts";

/** A maker of sessions. */
export interface SessionSource {
  createSession(request: AcpSessionRequest): Promise<AcpSession> | AcpSession;
  openSession?:
    | ((id: string, request: AcpSessionRequest) => Promise<AcpSession | undefined> | AcpSession | undefined)
    | undefined;
  readonly explain?: Explain | undefined;
}

/** The sessions of one connection. What they throw is an error of the protocol, in words. */
export class Sessions {
  readonly #options: SessionSource;
  readonly #live: Map<string, LiveSession> = new Map();
  /** The last task of each session, by its id: the next one begins when the one before has ended. */
  readonly #last: Map<string | symbol, Promise<unknown>> = new Map();
  #connection: AgentConnection | undefined;
  capabilities: ClientCapabilities = {};

  constructor(options: SessionSource) {
    this.#options = options;
  }

  start(connection: AgentConnection): void {
    this.#connection = connection;
  }

  /** Does something with an open session, after what was asked of it before. */
  with<Result>(id: string, task: (live: LiveSession) => Promise<Result>): Promise<Result> {
    return this.#inTurn(id, () => task(this.#get(id)));
  }

  /** Runs a turn. What is asked of the session after it waits only for its start. */
  async prompt(id: string, content: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const { turn } = await this.with(id, async (live) => ({ turn: live.prompt(content, signal) }));
    return this.inWords(() => turn);
  }

  async inWords<Result>(task: () => Promise<Result>): Promise<Result> {
    try {
      return await task();
    } catch (error) {
      throw toRequestError(error, this.#options.explain);
    }
  }

  /** Ends the turn that runs, and those asked for before; what is asked of the session after it waits for their end. */
  async cancel(id: string): Promise<void> {
    const cancel = (): Promise<void> | undefined => this.#live.get(id)?.cancel();
    void cancel();
    await this.#inTurn(id, async () => cancel());
  }

  /** Opens a session for a client; with an `id` again: then `tell` is the first that is done with it. */
  open(
    given: Parameters<typeof readSessionRequest>[0],
    client: AgentContext,
    id?: string,
    tell?: (live: LiveSession) => Promise<void>,
  ): Promise<LiveSession> {
    return this.#inTurn(id ?? Symbol("new"), async () => {
      if (id !== undefined && this.#live.get(id)?.isBusy)
        throw turnRuns("wait for its end, or cancel it, and open it then");
      const { createSession, openSession } = this.#options;
      const gone = this.#connection?.signal ?? AbortSignal.abort();
      const request = await readSessionRequest(given, gone);
      // The file of a session is open once.
      if (id !== undefined) await this.#close(id);
      const session = await (id === undefined ? createSession(request) : openSession?.(id, request));
      if (!session) throw nothingToOpen(id ?? "");
      const live = new LiveSession(session, client, this.capabilities, gone);
      this.#live.set(session.id, live);
      await tell?.(live);
      return live;
    });
  }

  close(id: string): Promise<void> {
    return this.with(id, () => this.#close(id));
  }

  /** Closes all sessions, also those that are being opened. */
  async closeAll(): Promise<void> {
    await Promise.allSettled(this.#last.values());
    await Promise.allSettled([...this.#live.keys()].map((id) => this.close(id)));
  }

  #get(id: string): LiveSession {
    const live = this.#live.get(id);
    if (!live) throw sessionNotFound(id);
    return live;
  }

  async #close(id: string): Promise<void> {
    const live = this.#live.get(id);
    this.#live.delete(id);
    await live?.close();
  }

  #inTurn<Result>(id: string | symbol, asked: () => Promise<Result>): Promise<Result> {
    const task = (): Promise<Result> => this.inWords(asked);
    // The answer to what was asked before goes out first.
    const next = (): Promise<Result> => turnOfLoop().then(task);
    const running = this.#last.get(id)?.then(next, next) ?? Promise.resolve().then(task);
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
