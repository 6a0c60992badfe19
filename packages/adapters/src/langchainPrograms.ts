import type { ToolRunnableConfig } from "@langchain/core/tools";
import type { ApprovalAnswer, CallLog, ExecuteOptions, WithinQuestion } from "@toolcrib/core";
import { attempt, offeredFolder } from "@toolcrib/core/internal";
import { type Asked, answersTo, type Interrupt } from "./langchainQuestions.ts";
import type { ToolAnswer, ToolSource } from "./registryCall.ts";

/** The record of one call that has others within it: its lines so far, and what keeps more. */
export type KeptLines = Pick<CallLog, "lines" | "write">;

/** Returns the record of a call; the id is the same each time the graph comes to that call, and no other call has it. */
export type KeepLog = (id: string) => KeptLines | Promise<KeptLines>;

/** The way to the user for calls within a call. */
export interface Parking {
  readonly interrupt: Interrupt;
  readonly kept: KeptLines;
}

/**
 * Returns how a call parks: only one of a tool that has others within it, and alone in its task of the graph. After an interrupt the whole task
 * runs again, and with it calls beside this one that had run.
 */
export async function parkingOf(
  registry: ToolSource,
  { name, isAlone }: { readonly name: string; readonly isAlone: boolean },
  { interrupt, log }: { readonly interrupt?: Interrupt | undefined; readonly log?: KeepLog | undefined },
  { configurable = {}, toolCall }: ToolRunnableConfig,
): Promise<Parking | undefined> {
  if (!interrupt || !log || !isAlone || toolCall?.id === undefined) return undefined;
  if (attempt(() => registry.get(name)?.composite) !== true) return undefined;
  // The name of a task holds the checkpoint from which it starts: servers may begin with the same call ids in every reply.
  const kept = await log([configurable.thread_id, configurable.checkpoint_ns, toolCall.id].join("/"));
  return { interrupt, kept };
}

type Run = (caller: NonNullable<ExecuteOptions["caller"]>) => Promise<ToolAnswer>;

/** Runs a call that parks: questions within it interrupt the graph, and with the answers it goes on by its record. */
export async function runParking(
  run: Run,
  { interrupt, kept }: Parking,
  config: ToolRunnableConfig,
): Promise<ToolAnswer> {
  const lines = [...kept.lines];
  let answers: Readonly<Record<string, ApprovalAnswer>> = {};
  for (;;) {
    const write: CallLog["write"] = async (more, sync) => {
      await kept.write(more, sync);
      lines.push(...more);
    };
    const answer = await run({ log: { lines: [...lines], answers, write } });
    const within = withinOf(answer.error);
    if (within.length === 0) return answer;
    const asked = within.map(askedOf);
    const given = await answersTo(asked, interrupt, config.configurable ?? {});
    answers = Object.fromEntries(given.map(({ id = "", answer: one }) => [id, one]));
  }
}

function withinOf(error: ToolAnswer["error"]): readonly WithinQuestion[] {
  if (error?.code !== "approval_required") return [];
  return (error.details as { readonly within?: readonly WithinQuestion[] }).within ?? [];
}

function askedOf({ callId: id, name, args, question }: WithinQuestion): Asked {
  const upTo = offeredFolder(question);
  return { id, name, args, question: question.text, ...(upTo !== undefined && { upTo }) };
}
