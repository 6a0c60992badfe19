import { AgentError } from "@toolcrib/agent";
import { untilAborted } from "@toolcrib/core/internal";
import type { Run } from "../run.ts";
import { isTransient } from "./retry.ts";

const pollingMs = 200;

/** A run that has ended or waits for an answer, as it was then; undefined for an unknown id. */
type Settled = Run | undefined;

interface Waiting extends PromiseWithResolvers<Settled> {
  readonly id: string;
}

/** Waits for the ends of any number of runs with one query at a time. */
export class SettledRuns {
  readonly #settled: (ids: readonly string[]) => Promise<ReadonlyMap<string, Settled>>;
  readonly #waiting: Set<Waiting> = new Set();
  #timer: NodeJS.Timeout | undefined;

  /** Asks by `settled` which of the runs have ended, wait for an answer or are not known. */
  constructor(settled: (ids: readonly string[]) => Promise<ReadonlyMap<string, Settled>>) {
    this.#settled = settled;
  }

  /** Resolves once the run has ended, waits for an answer, or is not known. */
  async wait(id: string, signal?: AbortSignal): Promise<Settled> {
    const waiting = { id, ...Promise.withResolvers<Settled>() };
    this.#waiting.add(waiting);
    this.#look(0);
    try {
      return await untilAborted(waiting.promise, signal);
    } catch (cause) {
      if (!signal?.aborted || cause !== signal.reason) throw cause;
      const message = "The wait for the result of the run was aborted.";
      throw new AgentError({ code: "aborted", message, cause });
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  /** Ends all waiting. */
  close(): void {
    clearTimeout(this.#timer);
    const message = "The runs were closed during the wait for a result.";
    for (const { reject } of this.#waiting) reject(new AgentError({ code: "aborted", message }));
  }

  #look(delayMs: number): void {
    this.#timer ??= setTimeout(() => {
      void this.#ask().finally(() => {
        this.#timer = undefined;
        if (this.#waiting.size > 0) this.#look(pollingMs);
      });
    }, delayMs);
  }

  async #ask(): Promise<void> {
    // Who comes meanwhile may have seen more than the answer tells.
    const asked = [...this.#waiting];
    try {
      const settled = await this.#settled(asked.map(({ id }) => id));
      for (const { id, resolve } of asked) if (settled.has(id)) resolve(settled.get(id));
    } catch (error) {
      // It is asked again.
      if (!isTransient(error)) for (const { reject } of asked) reject(error);
    }
  }
}
