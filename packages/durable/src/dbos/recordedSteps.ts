import type { AgentOptions } from "@toolcrib/agent";
import { type PlainError, reviveError, toPlainError } from "../errors.ts";
import type { Engine } from "./loadEngine.ts";

type StepRunner = NonNullable<AgentOptions["steps"]>;

/** The end of a step, as the engine records it. */
export interface StepRecord {
  readonly value?: unknown;
  readonly error?: PlainError;
  /** Of a reply: the last message that the run has read. */
  readonly read?: number;
  /** Of the first step of a turn: the prompt that the turn has, wherever it goes on. */
  readonly prompt?: string | null;
}

/** The parts of a worker that the steps of its turn use. */
export interface StepsContext {
  readonly workflowId: string;
  /** Ends what is in flight. */
  readonly signal: AbortSignal;
  /** Returns whether a further step may begin here. */
  mayBegin(): boolean;
  /** Resolves once this worker is known to be alive: after a sleep, with its next beat. */
  ready(): Promise<void>;
  /** Gives the agent what was sent since `read`; resolves to the last message that was read. */
  deliver(read: number): Promise<number>;
  /** Runs a request to the model within the limits of its provider. */
  request<T>(send: () => Promise<T>): Promise<T>;
}

/** The steps of one turn, recorded by the engine. */
export class RecordedSteps implements StepRunner {
  readonly #engine: Engine;
  readonly #context: StepsContext;
  /** The last message that the run has read. */
  read: number;
  /** The prompt of the turn. */
  prompt: string | null = null;
  #isFirst = true;
  /**
   * The calls whose start was claimed here, by the name of the step that claimed it. Nobody else may run one, so a worker that is closing begins
   * it still. After an abort or a lost lease it is not begun, and the next worker tells that it may have run.
   */
  readonly #claimed = new Set<string>();
  /** The reason why the turn does not end here: it was cancelled, or another worker has it. It is the engine's own error. */
  lost: unknown;

  constructor(engine: Engine, context: StepsContext, read: number) {
    this.#engine = engine;
    this.#context = context;
    this.read = read;
  }

  async run<T>(name: string, fn: () => Promise<T>): Promise<T> {
    let own: { readonly value: T } | undefined;
    let record: StepRecord;
    const first = this.#isFirst ? { prompt: this.prompt } : {};
    this.#isFirst = false;
    try {
      if (this.lost !== undefined) throw this.lost;
      const isClaimed = this.#claimed.delete(name.replace(/^call:/, "start:")) && !this.#context.signal.aborted;
      if (!isClaimed && !this.#context.mayBegin()) throw this.#notHere();
      // The engine numbers steps by their start: nothing is awaited before.
      record = await this.#engine.sdk.DBOS.runStep(
        async () => ({
          ...first,
          ...(await this.#work(name, fn, (value) => {
            own = { value };
          })),
        }),
        { name },
      );
    } catch (error) {
      this.lost ??= error;
      throw error;
    }
    if (own && name.startsWith("start:")) this.#claimed.add(name);
    if (record.read !== undefined) this.read = record.read;
    if (record.error !== undefined) throw reviveError(record.error);
    return own ? own.value : (record.value as T);
  }

  async #work<T>(name: string, fn: () => Promise<T>, onValue: (value: T) => void): Promise<StepRecord> {
    const { signal, request, deliver, ready } = this.#context;
    try {
      await ready();
      const isReply = name.startsWith("reply:");
      const read = isReply ? await deliver(this.read) : undefined;
      const value = await (isReply || name.startsWith("compact:") ? request(fn) : fn());
      onValue(value);
      return { value, ...(read !== undefined && { read }) };
    } catch (error) {
      // Ended from here or by a cancel: that is no outcome of the step.
      if (signal.aborted) throw this.#notHere();
      return { error: toPlainError(error) };
    }
  }

  /** Makes the error with which the engine records nothing, and leaves the turn to whoever has it. */
  #notHere(): Error {
    return new this.#engine.sdk.DBOSWorkflowConflictError(this.#context.workflowId);
  }
}
