import { AgentError } from "@toolcrib/agent";
import { untilAborted } from "@toolcrib/core/internal";
import { isTransient } from "./retry.ts";

const pollingMs = 200;

interface Waiting {
  resolve(): void;
  reject(error: unknown): void;
}

/** Waits for the ends of any number of runs with one query at a time. */
export class SettledRuns {
  readonly #settled: (ids: readonly string[]) => Promise<readonly string[]>;
  readonly #waiting: Map<string, Set<Waiting>> = new Map();
  #timer: NodeJS.Timeout | undefined;

  constructor(settled: (ids: readonly string[]) => Promise<readonly string[]>) {
    this.#settled = settled;
  }

  /** Resolves once the run has ended, waits for an answer, or is not known. */
  async wait(id: string, signal?: AbortSignal): Promise<void> {
    const { promise, ...waiting } = Promise.withResolvers<void>();
    const all = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, all.add(waiting));
    this.#look(0);
    try {
      await untilAborted(promise, signal);
    } catch (error) {
      throw signal?.aborted && error === signal.reason ? aborted(error) : error;
    } finally {
      all.delete(waiting);
      if (all.size === 0) this.#waiting.delete(id);
    }
  }

  /** Ends all waiting. */
  close(): void {
    clearTimeout(this.#timer);
    for (const { reject } of this.#all())
      reject(new AgentError({ code: "aborted", message: "The runs were closed during the wait for a result." }));
  }

  #all(): Waiting[] {
    return [...this.#waiting.values()].flatMap((each) => [...each]);
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
    try {
      for (const id of await this.#settled([...this.#waiting.keys()]))
        for (const { resolve } of this.#waiting.get(id) ?? []) resolve();
    } catch (error) {
      // It is asked again.
      if (!isTransient(error)) for (const { reject } of this.#all()) reject(error);
    }
  }
}

function aborted(cause: unknown): AgentError {
  return new AgentError({ code: "aborted", message: "The wait for the result of the run was aborted.", cause });
}
