import {
  type RestatePromise as Awaited,
  RestatePromise,
  TerminalError,
  type WorkflowContext,
} from "@restatedev/restate-sdk";
import type { AgentOptions } from "@toolcrib/agent";
import { type PlainError, reviveError, toPlainError } from "../errors.ts";

type StepRunner = NonNullable<AgentOptions["steps"]>;

/** The end of a step, as the engine records it. */
type StepRecord = { readonly value: unknown } | { readonly error: PlainError };

/** A step whose record is waited for. */
interface WaitingStep {
  readonly record: Awaited<StepRecord>;
  resolve(record: StepRecord): void;
  reject(error: unknown): void;
}

/** The steps of one run, recorded by Restate. */
export class RecordedSteps implements StepRunner {
  readonly #context: WorkflowContext;
  readonly #control: AbortController = new AbortController();
  /** Gives the agent what was sent. */
  readonly #steer: (text: string) => void;
  readonly #waiting: Set<WaitingStep> = new Set();
  #isWaiting = false;
  #nextMessage = 1;
  /** The reason why the run does not go on here: it was cancelled, or the engine has ended this attempt. */
  lost: unknown;

  constructor(context: WorkflowContext, steer: (text: string) => void) {
    this.#context = context;
    this.#steer = steer;
    context.request().attemptCompletedSignal.addEventListener("abort", () => {
      this.#end(new Error("The engine has ended this attempt."));
    });
  }

  /** Ends what is in flight. */
  get signal(): AbortSignal {
    return this.#control.signal;
  }

  async run<T>(name: string, fn: () => Promise<T>): Promise<T> {
    if (name.startsWith("reply:")) await this.#deliver();
    const record = await this.#recordOf(name, fn);
    if ("error" in record) throw reviveError(record.error);
    return record.value as T;
  }

  /** Delivers what was sent since the last reply. The engine records what there was, so that a replay gets the same. */
  async #deliver(): Promise<void> {
    for (;;) {
      const text = await this.#context.promise<string>(messageName(this.#nextMessage)).peek();
      if (text === undefined) return;
      this.#nextMessage += 1;
      this.#steer(text);
    }
  }

  #recordOf(name: string, fn: () => Promise<unknown>): Promise<StepRecord> {
    return new Promise((resolve, reject) => {
      if (this.lost !== undefined) return reject(this.lost);
      // The engine knows steps by their order: nothing is awaited before.
      this.#waiting.add({ record: this.#context.run(name, () => this.#work(fn)), resolve, reject });
      if (this.#isWaiting) return;
      this.#isWaiting = true;
      void this.#wait();
    });
  }

  async #work(fn: () => Promise<unknown>): Promise<StepRecord> {
    try {
      return { value: await fn() };
    } catch (error) {
      // Ended by a cancel or with the attempt: that is no outcome of the step, and it is not to be tried again.
      if (this.signal.aborted) throw new TerminalError("Cancelled.", { errorCode: 409 });
      return { error: toPlainError(error) };
    }
  }

  /** Waits for the records of steps side by side as one: the engine lets a handler wait for one thing at a time. */
  async #wait(): Promise<void> {
    // Steps that start side by side do so at once.
    await Promise.resolve();
    try {
      while (this.#waiting.size > 0) {
        const ended = [...this.#waiting].map((step) =>
          step.record.map((record, failure) => ({ step, record, failure })),
        );
        const { step, record, failure } = await RestatePromise.race(ended);
        this.#waiting.delete(step);
        if (record === undefined) throw failure;
        step.resolve(record);
      }
    } catch (error) {
      this.#end(error);
    } finally {
      this.#isWaiting = false;
    }
  }

  #end(error: unknown): void {
    this.lost ??= error;
    this.#control.abort(error);
    for (const { reject } of this.#waiting) reject(error);
    this.#waiting.clear();
  }
}

export function messageName(number: number): string {
  return `message:${number}`;
}
