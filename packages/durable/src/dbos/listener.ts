import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, PoolClient } from "pg";
import type { Database } from "./database.ts";
import type { Engine } from "./loadEngine.ts";

/** A notice between workers. `queue`: there are turns to take. `granted`: requests to a provider that may begin, by their ids. */
export type Notice = { readonly kind: "queue" } | { readonly kind: "granted"; readonly ids: readonly string[] };

const reconnectMs = 1_000;
/** PostgreSQL takes less than 8,000 bytes. */
const longestPayload = 7_000;

/** Tells the workers of a schema something once the transaction commits. */
export async function notify(client: Pick<PoolClient, "query">, database: Database, notice: Notice): Promise<void> {
  const payload = noticeText(notice).slice(0, longestPayload);
  await client.query("SELECT pg_notify($1, $2)", [channelOf(database), payload]);
}

function noticeText(notice: Notice): string {
  return notice.kind === "queue" ? "queue" : ["granted", ...notice.ids].join(" ");
}

function channelOf({ schemaName }: Database): string {
  return `toolcrib_${createHash("sha256").update(schemaName).digest("hex").slice(0, 16)}`;
}

/** Listens for notices on a connection of its own, opened again when it breaks. What is missed is found by polling. */
export class Listener {
  readonly #engine: Engine;
  readonly #database: Database;
  readonly #onNotice: (notice: Notice) => void;
  readonly #id: string = randomUUID();
  readonly #ended: AbortController = new AbortController();
  #isHeard = false;
  #running: Promise<void> | undefined;

  constructor(engine: Engine, database: Database, onNotice: (notice: Notice) => void) {
    this.#engine = engine;
    this.#database = database;
    this.#onNotice = onNotice;
  }

  /** Returns whether notices come through: not without a connection, nor behind a pooler that lends connections for a transaction. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      // The next connection is opened, however this one ends.
      await this.#listen(signal).catch(() => {});
      this.#isHeard = false;
      await sleep(reconnectMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Rejects or resolves when the connection has ended. */
  async #listen(signal: AbortSignal): Promise<void> {
    const { pool, config } = this.#database;
    const client: Client = new this.#engine.pg.Client(config);
    const ended = new Promise<void>((resolve) => {
      client.once("end", resolve).on("error", () => resolve());
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    client.on("notification", ({ payload = "" }) => this.#hear(payload));
    try {
      await client.connect();
      await client.query(`LISTEN ${channelOf(this.#database)}`);
      // From another connection: what a connection tells itself comes through anywhere.
      await pool.query("SELECT pg_notify($1, $2)", [channelOf(this.#database), this.#id]);
      // Earlier notices are not heard.
      this.#onNotice({ kind: "queue" });
      await ended;
    } finally {
      await client.end().catch(() => {});
    }
  }

  #hear(payload: string): void {
    if (payload === this.#id) this.#isHeard = true;
    else if (payload === "queue") this.#onNotice({ kind: "queue" });
    else if (payload.startsWith("granted ")) this.#onNotice({ kind: "granted", ids: payload.split(" ").slice(1) });
  }
}
