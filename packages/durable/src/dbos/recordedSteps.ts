import type { Agent, AgentOptions } from "@toolcrib/agent";
import { untilAborted } from "@toolcrib/core/internal";
import { reviveError, toPlainError } from "../errors.ts";
import type { AgentSource } from "../run.ts";
import type { RunTracing } from "../tracing.ts";
import { createAgent, defineAgent, type RunAgent, runTurn } from "../turn.ts";
import type { Engine } from "./loadEngine.ts";
import type { RequestLimits } from "./requestLimits.ts";
import { untilDatabaseIsBack } from "./retry.ts";
import type { BegunRow, EndOfTurn, RunRow, RunTable, StepRecord } from "./runTable.ts";

type StepRunner = NonNullable<AgentOptions["steps"]>;

/** The parts of a worker that the steps of its turns use. */
export interface TurnContext {
  readonly engine: Engine;
  readonly runs: Pick<RunTable, "unread" | "recordedPrompt">;
  readonly agents: Readonly<Record<string, AgentSource>>;
  readonly limits: Pick<RequestLimits, "run">;
  /** Ends what is in flight. */
  readonly signal: AbortSignal;
  /** Returns whether a further step may begin here. */
  mayBegin(): boolean;
  /** Resolves once this worker is known to be alive: after a sleep, with its next beat. */
  ready(signal: AbortSignal): Promise<void>;
}

/** The end of a turn, and the last message that it has read. */
export type RecordedEnd = EndOfTurn & { readonly read: number };

/** Runs the turn of a run as steps, in the trace of the run where it is traced. Throws the engine's own error where the turn does not end here. */
export function runRecordedTurn(row: BegunRow, context: TurnContext, tracing?: RunTracing): Promise<RecordedEnd> {
  const work = (): Promise<RecordedEnd> => runSteps(row, context);
  return tracing ? tracing.turn({ id: row.id, agent: row.agent }, row.trace, work) : work();
}

async function runSteps(row: BegunRow, context: TurnContext): Promise<RecordedEnd> {
  const { runs, agents, signal } = context;
  const steps = new RecordedSteps(row, context);
  let made: RunAgent;
  try {
    const run = { id: row.id, tenant: row.tenant ?? undefined, labels: row.labels };
    const make = async (): Promise<RunAgent> => {
      const { systemPrompt, ...definition } = await defineAgent(agents, row.agent, run);
      steps.provider = definition.provider.name;
      // A turn keeps the prompt that it began with: one with a date in it would be another one here.
      const begun = row.isBegun
        ? await untilDatabaseIsBack(() => runs.recordedPrompt(row.workflow), signal)
        : undefined;
      steps.prompt = begun === undefined ? (systemPrompt ?? null) : begun;
      const withPrompt = { ...definition, ...(steps.prompt !== null && { systemPrompt: steps.prompt }) };
      return await createAgent(withPrompt, { steps, session: row.session });
    };
    made = await untilAborted(make(), signal);
    steps.agent = made.agent;
  } catch (error) {
    if (signal.aborted) throw notHere(row, context);
    return { status: "failed", error: toPlainError(error), read: row.read_seq };
  }
  const end = await runTurn(made, row.input, { signal, labels: row.labels });
  if (steps.lost !== undefined) throw steps.lost;
  if (signal.aborted && end.status === "failed") throw notHere(row, context);
  return { ...end, read: steps.read };
}

/** Makes the error with which the engine records nothing, and leaves the turn to whoever has it. */
export function notHere({ workflow }: Pick<RunRow, "workflow">, { engine }: Pick<TurnContext, "engine">): Error {
  return new engine.sdk.DBOSWorkflowConflictError(workflow);
}

/** The steps of one turn, recorded by the engine. */
export class RecordedSteps implements StepRunner {
  readonly #row: Pick<RunRow, "id" | "workflow" | "read_seq">;
  readonly #context: TurnContext;
  /** The last message that the run has read. */
  read: number;
  /** The agent of the turn, which gets what was sent to the run, and the name of its provider. */
  agent: Pick<Agent, "steer"> | undefined;
  provider = "";
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

  constructor(row: Pick<RunRow, "id" | "workflow" | "read_seq">, context: TurnContext) {
    this.#row = row;
    this.#context = context;
    this.read = row.read_seq;
  }

  async run<T>(name: string, fn: () => Promise<T>): Promise<T> {
    let own: { readonly value: T } | undefined;
    let record: StepRecord;
    const first = this.#isFirst ? { prompt: this.prompt } : {};
    this.#isFirst = false;
    try {
      if (this.lost !== undefined) throw this.lost;
      const isClaimed = this.#claimed.delete(name.replace(/^call:/, "start:")) && !this.#context.signal.aborted;
      if (!isClaimed && !this.#context.mayBegin()) throw notHere(this.#row, this.#context);
      // The engine numbers steps by their start: nothing is awaited before.
      record = await this.#context.engine.sdk.DBOS.runStep(
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
    const { signal, limits, ready } = this.#context;
    try {
      await ready(signal);
      const isReply = name.startsWith("reply:");
      const read = isReply ? await this.#deliver() : undefined;
      const isRequest = isReply || name.startsWith("compact:");
      const value = await (isRequest ? limits.run(this.provider, fn, { signal, ready }) : fn());
      onValue(value);
      return { value, ...(read !== undefined && { read }) };
    } catch (error) {
      // Ended from here or by a cancel: that is no outcome of the step.
      if (signal.aborted) throw notHere(this.#row, this.#context);
      return { error: toPlainError(error) };
    }
  }

  /** Gives the agent what was sent since the last reply; resolves to the last message that was read. */
  async #deliver(): Promise<number> {
    const { runs, signal } = this.#context;
    const unread = await untilDatabaseIsBack(() => runs.unread(this.#row.id, this.read), signal);
    for (const { text } of unread) this.agent?.steer(text);
    return unread.at(-1)?.seq ?? this.read;
  }
}
