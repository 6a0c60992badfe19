import { untilAborted } from "@toolcrib/core/internal";
import { toPlainError } from "../errors.ts";
import type { AgentSource } from "../run.ts";
import type { RunTracing } from "../tracing.ts";
import { createAgent, defineAgent, type RunAgent, runTurn } from "../turn.ts";
import type { Engine } from "./loadEngine.ts";
import { RecordedSteps } from "./recordedSteps.ts";
import type { RequestLimits } from "./requestLimits.ts";
import { untilDatabaseIsBack } from "./retry.ts";
import type { BegunRow, EndOfTurn } from "./runRow.ts";
import type { RunTable } from "./runTable.ts";

export interface TurnContext {
  readonly engine: Engine;
  readonly runs: RunTable;
  readonly agents: Readonly<Record<string, AgentSource>>;
  readonly limits: RequestLimits;
  /** Ends what is in flight. */
  readonly signal: AbortSignal;
  /** Returns whether another step may begin here. */
  mayBegin(): boolean;
  /** Resolves once this worker is known to be alive. */
  ready(signal: AbortSignal): Promise<void>;
}

/** The end of a turn, and the last message that it has read. */
export interface RecordedEnd {
  readonly end: EndOfTurn;
  readonly read: number;
}

/** Runs the turn of a run as steps, in the trace of the run where it is traced. Throws the engine's own error where the turn does not end here. */
export async function runRecordedTurn(row: BegunRow, context: TurnContext, tracing?: RunTracing): Promise<RecordedEnd> {
  let read = row.read_seq;
  const work = async (): Promise<EndOfTurn> => {
    const recorded = await runSteps(row, context);
    read = recorded.read;
    return recorded.end;
  };
  const end = await (tracing ? tracing.turn({ id: row.id, agent: row.agent }, row.trace, work) : work());
  return { end, read };
}

async function runSteps(row: BegunRow, context: TurnContext): Promise<RecordedEnd> {
  const { engine, runs, agents, limits, signal, mayBegin, ready } = context;
  let made: RunAgent | undefined;
  let provider = "";
  const steps = new RecordedSteps(
    engine,
    {
      workflowId: row.workflow,
      signal,
      mayBegin,
      async deliver(read) {
        const unread = await untilDatabaseIsBack(() => runs.unread(row.id, read), signal);
        for (const { text } of unread) made?.agent.steer(text);
        return unread.at(-1)?.seq ?? read;
      },
      ready: () => ready(signal),
      request: (send) => limits.run(provider, send, { signal, ready }),
    },
    row.read_seq,
  );
  try {
    const run = { id: row.id, tenant: row.tenant ?? undefined, labels: row.labels };
    const make = async (): Promise<RunAgent> => {
      const { systemPrompt, ...definition } = await defineAgent(agents, row.agent, run);
      provider = definition.provider.name;
      // A turn keeps the prompt that it began with: one with a date in it would be another one here.
      const begun = row.isBegun
        ? await untilDatabaseIsBack(() => runs.recordedPrompt(row.workflow), signal)
        : undefined;
      steps.prompt = begun === undefined ? (systemPrompt ?? null) : begun;
      const withPrompt = { ...definition, ...(steps.prompt !== null && { systemPrompt: steps.prompt }) };
      return await createAgent(withPrompt, { steps, session: row.session });
    };
    made = await untilAborted(make(), signal);
  } catch (error) {
    if (signal.aborted) throw new engine.sdk.DBOSWorkflowConflictError(row.workflow);
    return { end: { status: "failed", error: toPlainError(error) }, read: row.read_seq };
  }
  const end = await runTurn(made, row.input, { signal, labels: row.labels });
  if (steps.lost !== undefined) throw steps.lost;
  if (signal.aborted && end.status === "failed") throw new engine.sdk.DBOSWorkflowConflictError(row.workflow);
  return { end, read: steps.read };
}
