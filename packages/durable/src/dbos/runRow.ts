import type { Session } from "@toolcrib/agent";
import type { ToolLabels } from "@toolcrib/core";
import type { RunStatus } from "../run.ts";
import type { TraceCarrier } from "../tracing.ts";
import type { TurnEnd, TurnInput } from "../turn.ts";

/** The workflow that runs one turn of a run. */
export const workflowName = "toolcrib.turn";

/** Returns the queue of an agent. Workers listen to those of their own agents alone. */
export function queueOf(agent: string): string {
  return `toolcrib:${agent}`;
}

/** Returns the workflow of a turn. No id of a run holds `::`. */
export function workflowOf(id: string, turn: number): string {
  return turn === 1 ? id : `${id}::${turn}`;
}

/** The end of a turn. It has no session if no agent could be made: the one before stays. */
export type EndOfTurn = Omit<TurnEnd, "session" | "usage"> & Partial<Pick<TurnEnd, "session" | "usage">>;

/** A row of `agent_runs`, its JSON read. */
export interface RunRow {
  readonly id: string;
  readonly agent: string;
  readonly tenant: string | null;
  readonly labels: ToolLabels;
  readonly priority: number;
  readonly turn: number;
  readonly workflow: string;
  readonly status: RunStatus;
  readonly input: TurnInput;
  readonly session: Session | undefined;
  readonly outcome: Omit<EndOfTurn, "session"> | undefined;
  readonly trace: TraceCarrier | undefined;
  readonly read_seq: number;
  /** The number of times that a worker has begun the present turn. */
  readonly attempts: number;
  /** The version of the worker that has begun the present turn. */
  readonly version: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A run whose turn a worker begins. */
export interface BegunRow extends RunRow {
  /** Set if a worker has begun the turn before: there may be records of its steps. */
  readonly isBegun: boolean;
}

/** The same as the database gives it. */
export type RawRow = Omit<RunRow, "labels" | "input" | "session" | "outcome" | "trace" | "read_seq"> & {
  readonly labels: string;
  readonly input: string;
  readonly session: string | null;
  readonly outcome: string | null;
  readonly trace: string | null;
  readonly read_seq: string;
};

export function readOutcome({ outcome }: Pick<RawRow, "outcome">): RunRow["outcome"] {
  return outcome === null ? undefined : JSON.parse(outcome);
}

/** The columns read of a locked run: not its session, which may be large. */
export const lockedColumns = ["id", "agent", "tenant", "priority", "turn", "workflow", "status", "outcome"] as const;
export type LockedRow = Pick<RunRow, (typeof lockedColumns)[number]>;

/** Returns whether its turn has not ended. */
export function isOpen({ status }: Pick<RunRow, "status">): boolean {
  return status === "queued" || status === "running";
}

export function readRow(row: RawRow): RunRow {
  return {
    ...row,
    labels: JSON.parse(row.labels),
    input: JSON.parse(row.input),
    session: row.session === null ? undefined : JSON.parse(row.session),
    outcome: readOutcome(row),
    trace: row.trace === null ? undefined : JSON.parse(row.trace),
    read_seq: Number(row.read_seq),
  };
}
