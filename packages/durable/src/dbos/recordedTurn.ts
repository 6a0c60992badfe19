import { untilAborted } from "@toolcrib/core/internal";
import { toPlainError } from "../errors.ts";
import type { RunTracing } from "../tracing.ts";
import { createAgent, defineAgent, type RunAgent, runTurn } from "../turn.ts";
import { RecordedSteps, type TurnContext } from "./recordedSteps.ts";
import { untilDatabaseIsBack } from "./retry.ts";
import type { BegunRow, EndOfTurn } from "./runRow.ts";

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
  const { engine, runs, agents, signal } = context;
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
    if (signal.aborted) throw new engine.sdk.DBOSWorkflowConflictError(row.workflow);
    return { end: { status: "failed", error: toPlainError(error) }, read: row.read_seq };
  }
  const end = await runTurn(made, row.input, { signal, labels: row.labels });
  if (steps.lost !== undefined) throw steps.lost;
  if (signal.aborted && end.status === "failed") throw new engine.sdk.DBOSWorkflowConflictError(row.workflow);
  return { end, read: steps.read };
}
