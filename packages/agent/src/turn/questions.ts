import type { AgentEvent } from "../messages.ts";
import type { ChatOptions } from "../options.ts";
import { runTurn, type TurnStart } from "./loop.ts";
import type { LoopState } from "./loopState.ts";

/**
 * Runs a turn, and goes on with it as long as `onQuestions` answers what its guards ask. The calls that wait are recorded before it is
 * called, so that a question outlives the process. Events as of one turn: a call that was asked about starts anew after its answer.
 */
export async function* runWithQuestions(
  state: LoopState,
  start: TurnStart,
  { onQuestions, ...options }: ChatOptions = {},
): AsyncGenerator<AgentEvent, void> {
  const { toolChoice: _, ...later } = options;
  let events = runTurn(state, start, options);
  for (;;) {
    let end: AgentEvent | undefined;
    for await (const event of events) {
      options.stopWhen?.see?.(event);
      if (onQuestions && event.type === "end" && event.reason === "approval") end = event;
      else yield event;
    }
    if (!end) return;
    const { pending } = state.history;
    const answers = await onQuestions?.(pending);
    // Without a new answer, those that were given before the process ended may still start calls.
    const isAnswered =
      answers && (Object.keys(answers).length > 0 || pending.some((call) => call.answer !== undefined));
    if (!isAnswered) return yield end;
    events = runTurn(state, { answers }, later);
  }
}
