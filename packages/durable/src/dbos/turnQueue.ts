import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@toolcrib/core/text";
import type { Database } from "./database.ts";
import { isAlive } from "./lease.ts";
import type { Engine } from "./loadEngine.ts";
import { isTransient } from "./retry.ts";
import { queueOf } from "./runTable.ts";
import type { TurnSlots } from "./turnSlots.ts";

/** The interval at which a worker reads its queues, and the one if notices do not come through. */
const pollingMs = 5_000;
const deafPollingMs = 500;
/** The time for which turns that are another worker's share are left to it. */
const shareMs = 1_000;
/** After another worker was in the way. */
const hinderedMs = [20, 120] as const;
/** More are not counted: it is enough to know that there are many. */
const mostCounted = 1_000;

export interface TurnQueueOptions {
  readonly engine: Engine;
  readonly database: Database;
  readonly version: string;
  /** By the name of each agent. */
  readonly slots: ReadonlyMap<string, TurnSlots>;
  readonly tenantConcurrency: number | undefined;
  /** Resolves once this worker is known to be alive: after a sleep it takes nothing before its next beat. */
  ready(signal: AbortSignal): Promise<void>;
  /** Queues turns again that this worker has and does not run. Called where none is being taken. */
  recover(): Promise<void>;
  /** Returns whether other processes tell that turns were queued. */
  hears(): boolean;
  onWarning(message: string): void;
}

/** Takes turns from the queues of a worker's agents: when it is told of some, when a slot is free, and every few seconds. */
export class TurnQueue {
  readonly #options: TurnQueueOptions;
  readonly #ended: AbortController = new AbortController();
  /** Since when turns are left to the workers whose share they are, by agent. */
  readonly #leftSince: Map<string, number> = new Map();
  #running: Promise<void> | undefined;
  #wakeUp: AbortController = new AbortController();
  #isRecovering = false;

  constructor(options: TurnQueueOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Looks into the queues at once. */
  wake(): void {
    this.#wakeUp.abort();
  }

  /** Compares what this worker has with what it runs, before it takes more. */
  recover(): void {
    this.#isRecovering = true;
    this.wake();
  }

  /** Takes no further turn. */
  async stop(): Promise<void> {
    this.#ended.abort();
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      this.#wakeUp = new AbortController();
      const delay = await this.#look().catch((error: unknown) => {
        this.#warn(error);
        return deafPollingMs;
      });
      await sleep(delay, undefined, { signal: this.#wakeUp.signal }).catch(() => {});
    }
  }

  /** Takes what this worker should run. Returns after how long to look again. */
  async #look(): Promise<number> {
    const { slots, hears, ready, recover } = this.#options;
    await ready(this.#ended.signal);
    if (this.#isRecovering) {
      this.#isRecovering = false;
      await recover();
    }
    const idle = hears() ? pollingMs : deafPollingMs;
    const open = [...slots].filter(([, { free }]) => free > 0).map(([name]) => name);
    if (open.length === 0) return idle;
    const delays = [idle];
    for (const { agent, queued, running, workers } of await this.#count(open)) {
      if (queued > 0) delays.push(await this.#take(agent, Math.ceil((queued + running) / Math.max(1, workers))));
      else this.#leftSince.delete(agent);
    }
    return Math.min(...delays);
  }

  /** Takes up to this worker's share of the turns of an agent, or what others have left for too long. */
  async #take(agent: string, share: number): Promise<number> {
    const { engine, slots, tenantConcurrency, hears } = this.#options;
    const name = queueOf(agent);
    const free = slots.get(agent)?.free ?? 0;
    const now = performance.now();
    const since = this.#leftSince.get(agent);
    const isLeft = since !== undefined && now - since >= shareMs;
    const most = isLeft ? free : Math.min(free, share - engine.countRunning(name));
    if (isLeft || most === free) this.#leftSince.delete(agent);
    else this.#leftSince.set(agent, since ?? now);
    const isHindered = most > 0 && (await engine.take({ name, most, tenantConcurrency }, this.#ended.signal));
    if (isHindered) return hinderedMs[0] + Math.random() * (hinderedMs[1] - hinderedMs[0]);
    return most < free ? shareMs : hears() ? pollingMs : deafPollingMs;
  }

  /** Counts for each agent what is queued that this worker may take, what runs, and the workers that may take it. */
  async #count(
    agents: readonly string[],
  ): Promise<readonly { agent: string; queued: number; running: number; workers: number }[]> {
    const { database, version } = this.#options;
    const { pool, schema } = database;
    const count = (condition: string): string =>
      `(SELECT count(*)::int FROM (SELECT FROM ${schema}.workflow_status s WHERE s.queue_name = q.queue AND ${condition} LIMIT ${mostCounted}) counted)`;
    const { rows } = await pool.query(
      `SELECT q.agent, ${count("s.status = 'PENDING'")} AS running,
         ${count("s.status = 'ENQUEUED' AND (s.application_version = $3 OR s.application_version IS NULL)")} AS queued,
         (SELECT count(*)::int FROM ${schema}.agent_workers w WHERE w.version = $3 AND q.agent = ANY(w.agents) AND ${isAlive}) AS workers
       FROM unnest($1::text[], $2::text[]) q (agent, queue)`,
      [agents, agents.map(queueOf), version],
    );
    return rows;
  }

  #warn(error: unknown): void {
    if (!isTransient(error)) this.#options.onWarning(messageOf(error));
  }
}
