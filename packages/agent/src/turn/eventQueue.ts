import type { AgentEvent } from "../messages.ts";

/** Events of work that goes on by itself, for one reader. */
export class EventQueue {
  readonly #events: AgentEvent[] = [];
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => {};

  push(event: AgentEvent): void {
    this.#events.push(event);
    this.#wake();
  }

  /** Makes the reader throw at once. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  /** Yields events until the work has ended, and returns what it resolves to. Throws what it rejects with. */
  async *until<T>(work: Promise<T>): AsyncGenerator<AgentEvent, T> {
    let hasEnded = false;
    const end = (): void => {
      hasEnded = true;
      this.#wake();
    };
    work.then(end, end);
    for (;;) {
      for (let event = this.#events.shift(); event; event = this.#events.shift()) yield event;
      if (this.#failure) throw this.#failure.error;
      if (hasEnded) return await work;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Passes the events of steps on until their end, and resolves to what they return. */
  async readAll<T>(steps: AsyncGenerator<AgentEvent, T>): Promise<T> {
    for (;;) {
      const next = await steps.next();
      if (next.done) return next.value;
      this.push(next.value);
    }
  }
}
