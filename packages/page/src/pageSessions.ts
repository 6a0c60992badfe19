import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { DurableLiveSession } from "./durableSession.ts";
import { explain, PageError } from "./errors.ts";
import { AgentLiveSession, type LiveSession } from "./liveSession.ts";
import { checkSession, readPageOptions } from "./options.ts";
import type { AgentSession, PageOptions } from "./sessions.ts";

/** Opens a session for a request, which uses it until it says `use(-1)`. Throws a PageError for one that it may not open. For the handlers alone: no face of ours has it. */
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
  /** By the real path of the journal. */
  readonly #live: Map<string, Promise<AgentLiveSession>> = new Map();

  constructor(options: PageOptions) {
    this.options = readPageOptions(options);
  }

  /** Ends all turns, and leaves all sessions. */
  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#live.values());
    await Promise.all(opened.map((one) => one.status === "fulfilled" && one.value.close()));
  }

  async #open(request: Request, id: unknown): Promise<LiveSession | Response> {
    if (typeof id !== "string" || !/^[\w-]{1,128}$/.test(id))
      throw new PageError(400, "The id of a session has letters, digits, - and _ alone, at most 128.");
    if (id === "stream" || id === "stop")
      throw new PageError(400, `The id ${id} is the name of a route; take another.`);
    const session = await this.options.open(request, id);
    if (session instanceof Response) return session;
    if (!session) throw new PageError(403, "You may not open this session.");
    checkSession(session);
    return "runs" in session ? new DurableLiveSession(session) : await this.#opened(session);
  }

  async #opened(session: AgentSession): Promise<AgentLiveSession> {
    const file = realPath(session.journal);
    let opening = this.#live.get(file);
    if (opening === undefined) {
      opening = this.#start(session, file);
      this.#live.set(file, opening);
      opening.catch(() => this.#live.delete(file));
    }
    const live = await opening;
    // Left meanwhile.
    if (live.isLeft) return await this.#opened(session);
    live.use(1);
    return live;
  }

  async #start(session: AgentSession, file: string): Promise<AgentLiveSession> {
    const left = (): void => {
      this.#live.delete(file);
      // Nobody waits for it, so its failure is told to the application alone.
      void (async () => await session.close?.())().catch((error: unknown) => explain(error, this));
    };
    const { lingerMs = 30_000 } = this.options;
    return new AgentLiveSession(await session.agent(), session, { lingerMs, left });
  }
}

/** Returns the one path of a file, however it is given. Neither it nor its folder needs to be there. */
function realPath(path: string): string {
  const whole = resolve(path);
  const folder = dirname(whole);
  const real = attempt(() => realpathSync.native(whole));
  return real ?? (folder === whole ? whole : join(realPath(folder), basename(whole)));
}
