import type { Session } from "@toolcrib/agent";
import type { ToolLabels } from "@toolcrib/core";
import type { PlainError } from "../errors.ts";
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

/** The end of a step, as the engine records it. */
export interface StepRecord {
  readonly value?: unknown;
  readonly error?: PlainError;
  /** Of a reply: the last message that the run has read. */
  readonly read?: number;
  /** Of the first step of a turn: the prompt that the turn has, wherever it goes on. */
  readonly prompt?: string | null;
}

/** Returns columns of a row with their JSON read, which the database keeps as text. */
export function readRow<Column extends keyof RunRow>(raw: Readonly<Record<Column, unknown>>): Pick<RunRow, Column> {
  const row: Record<string, unknown> = { ...raw };
  for (const name of ["labels", "input", "session", "outcome", "trace"])
    row[name] = typeof row[name] === "string" ? JSON.parse(row[name]) : undefined;
  if ("read_seq" in row) row.read_seq = Number(row.read_seq);
  return row as Pick<RunRow, Column>;
}

/** Returns whether its turn has not ended. */
export function isOpen({ status }: Pick<RunRow, "status">): boolean {
  return status === "queued" || status === "running";
}
