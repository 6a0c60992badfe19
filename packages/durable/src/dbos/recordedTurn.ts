import { toPlainError } from "../errors.ts";
import type { AgentSource } from "../run.ts";
import type { RunTracing } from "../tracing.ts";
import { createAgent, defineAgent, type RunAgent, runTurn } from "../turn.ts";
import type { Engine } from "./loadEngine.ts";
import { RecordedSteps } from "./recordedSteps.ts";
import type { RequestLimits } from "./requestLimits.ts";
import { untilDatabaseIsBack } from "./retry.ts";
import type { EndOfTurn, RunRow, RunTable } from "./runTable.ts";

export interface TurnContext {
  readonly engine: Engine;
  readonly runs: RunTable;
  readonly agents: Readonly<Record<string, AgentSource>>;
  readonly limits: RequestLimits;
  /** Ends what is in flight. */
  readonly control: AbortController;
  /** Whether another step may begin here. */
  mayBegin(): boolean;
}

/** How a turn ended, and the last message that it has read. */
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
  const { engine, runs, agents, limits, control, mayBegin } = context;
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
      request: (send) => limits.run(provider, send, signal),
    },
    row.read_seq,
  );
  try {
    const run = { id: row.id, tenant: row.tenant ?? undefined, labels: row.labels };
    const definition = await defineAgent(agents, row.agent, run);
    provider = definition.provider.name;
    made = await createAgent(definition, { steps, session: row.session });
  } catch (error) {
    return { end: { status: "failed", error: toPlainError(error) }, read: row.read_seq };
  }
  const end = await runTurn(made, row.input, { signal, labels: row.labels });
  if (steps.lost !== undefined) throw steps.lost;
  if (signal.aborted && end.status === "failed") throw new engine.sdk.DBOSWorkflowConflictError(row.workflow);
  return { end, read: steps.read };
}
