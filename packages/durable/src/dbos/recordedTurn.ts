import { setTimeout as sleep } from "node:timers/promises";
import { untilAborted } from "@toolcrib/core/internal";
import { toPlainError } from "../errors.ts";
import type { AgentSource } from "../run.ts";
import type { RunTracing } from "../tracing.ts";
import { createAgent, defineAgent, type RunAgent, runTurn } from "../turn.ts";
import type { Engine } from "./loadEngine.ts";
import { RecordedSteps, recordedPrompt } from "./recordedSteps.ts";
import type { RequestLimits } from "./requestLimits.ts";
import { untilDatabaseIsBack } from "./retry.ts";
import type { EndOfTurn, RunRow, RunTable } from "./runTable.ts";

/** The interval at which a run is read while its agent is made. */
const lookMs = 1_000;

export interface TurnContext {
  readonly engine: Engine;
  readonly runs: RunTable;
  readonly agents: Readonly<Record<string, AgentSource>>;
  readonly limits: RequestLimits;
  /** Ends what is in flight. */
  readonly control: AbortController;
  /** Returns whether another step may begin here. */
  mayBegin(): boolean;
  /** Resolves once this worker is known to be alive. */
  ready(signal: AbortSignal): Promise<void>;
  /** Leaves the slot of the turn while it waits for the limit of a provider. */
  leave<T>(wait: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** The end of a turn, and the last message that it has read. */
export interface RecordedEnd {
  readonly end: EndOfTurn;
  readonly read: number;
}

/** Runs the turn of a run as steps, in the trace of the run where it is traced. Throws the engine's own error where the turn does not end here. */
export async function runRecordedTurn(row: RunRow, context: TurnContext, tracing?: RunTracing): Promise<RecordedEnd> {
  let read = row.read_seq;
  const work = async (): Promise<EndOfTurn> => {
    const recorded = await runSteps(row, context);
    read = recorded.read;
    return recorded.end;
  };
  const end = await (tracing ? tracing.turn({ id: row.id, agent: row.agent }, row.trace, work) : work());
  return { end, read };
}

async function runSteps(row: RunRow, context: TurnContext): Promise<RecordedEnd> {
  const { engine, runs, agents, limits, control, mayBegin, ready, leave } = context;
  const { signal } = control;
  let made: RunAgent | undefined;
  let provider = "";
  const steps = new RecordedSteps(
    engine,
    {
      workflowId: row.workflow,
      control,
      mayBegin,
      async deliver(read) {
        const unread = await untilDatabaseIsBack(() => runs.unread(row.id, read), signal);
        for (const { text } of unread) made?.agent.steer(text);
        return unread.at(-1)?.seq ?? read;
      },
      ready: () => ready(signal),
      request: (send) => limits.run(provider, send, { signal, ready, leave }),
    },
    row.read_seq,
  );
  try {
    const run = { id: row.id, tenant: row.tenant ?? undefined, labels: row.labels };
    made = await whileOpen(row, context, async () => {
      const { systemPrompt, ...definition } = await defineAgent(agents, row.agent, run);
      provider = definition.provider.name;
      // A turn keeps the prompt that it began with: one with a date in it would be another one here.
      const begun = recordedPrompt(row.first_record);
      steps.prompt = begun === undefined ? (systemPrompt ?? null) : begun;
      const withPrompt = { ...definition, ...(steps.prompt !== null && { systemPrompt: steps.prompt }) };
      return await createAgent(withPrompt, { steps, session: row.session });
    });
  } catch (error) {
    if (signal.aborted) throw new engine.sdk.DBOSWorkflowConflictError(row.workflow);
    return { end: { status: "failed", error: toPlainError(error) }, read: row.read_seq };
  }
  const end = await runTurn(made, row.input, { signal, labels: row.labels });
  if (steps.lost !== undefined) throw steps.lost;
  if (signal.aborted && end.status === "failed") throw new engine.sdk.DBOSWorkflowConflictError(row.workflow);
  return { end, read: steps.read };
}

/**
 * Resolves to what `make` resolves to, unless the turn is to end first. The engine gives its signal to steps alone: before the first one the run is
 * looked at.
 */
async function whileOpen<T>(row: RunRow, { runs, control }: TurnContext, make: () => Promise<T>): Promise<T> {
  const made = new AbortController();
  const look = async (): Promise<void> => {
    for (let isOpen = true; isOpen; ) {
      await sleep(lookMs, undefined, { signal: made.signal });
      // The database may be away: it is looked at again.
      isOpen = await runs.isOpen(row.id, row.turn).catch(() => true);
    }
    control.abort();
  };
  look().catch(() => {});
  try {
    return await untilAborted(make(), control.signal);
  } finally {
    made.abort();
  }
}
