import type { AgentConnection, AgentContext, ClientCapabilities } from "@agentclientprotocol/sdk";
import { sessionNotFound } from "./errors.ts";
import { LiveSession } from "./liveSession.ts";
import { readSessionRequest } from "./sessionRequest.ts";
import type { AcpSession, AcpSessionRequest } from "./types.ts";

/** How sessions come to be. */
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
  /** What is opened and closed, by the id of the session: the next of an id begins when the one before has ended. */
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

  /** Does nothing for one that is not open. */
  close(id: string): Promise<void> {
    return this.#inTurn(id, () => this.#close(id));
  }

  /** Those that are being opened, too. */
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
