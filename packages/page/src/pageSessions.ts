import { DurableLiveSession } from "./durableSession.ts";
import { PageError } from "./errors.ts";
import { AgentLiveSession, type LiveSession } from "./liveSession.ts";
import type { PageOptions, PageSession } from "./sessions.ts";

/** Opens a session for a request. Throws a PageError for one that it may not open. For the handlers alone: no face of ours has it. */
export const opener: {
  open: (sessions: PageSessions, request: Request, id: unknown) => Promise<LiveSession | Response>;
} = {
  open: () => Promise.reject(new Error("not loaded")),
};

/** The sessions behind one or several pages: pass it to the handler of each protocol. */
export class PageSessions {
  static {
    opener.open = (sessions, request, id) => sessions.#open(request, id);
  }

  readonly options: PageOptions;
  readonly #live: Map<string, Promise<AgentLiveSession>> = new Map();

  constructor(options: PageOptions) {
    this.options = options;
  }

  /** Ends all turns, and leaves all sessions. */
  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#live.values());
    await Promise.all(opened.map((one) => one.status === "fulfilled" && one.value.close()));
  }

  async #open(request: Request, id: unknown): Promise<LiveSession | Response> {
    if (typeof id !== "string" || !/^[\w-]{1,128}$/.test(id))
      throw new PageError(400, "The id of a session has letters, digits, - and _ alone, at most 128.");
    const session = await this.options.open(request, id);
    if (session instanceof Response) return session;
    if (!session) throw new PageError(403, "You may not open this session.");
    return "runs" in session ? new DurableLiveSession(session) : await this.#opened(session);
  }

  async #opened(session: Exclude<PageSession, { runs: unknown }>): Promise<AgentLiveSession> {
    const { journal } = session;
    const known = this.#live.get(journal);
    if (known !== undefined) return await known;
    const left = (): void => {
      this.#live.delete(journal);
      void session.close?.();
    };
    const opening = Promise.resolve(session.agent()).then(
      (agent) => new AgentLiveSession(agent, session, { lingerMs: this.options.lingerMs ?? 30_000, left }),
    );
    this.#live.set(journal, opening);
    opening.catch(() => this.#live.delete(journal));
    return await opening;
  }
}
