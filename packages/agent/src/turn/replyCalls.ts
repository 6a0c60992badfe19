import type { History } from "../conversation/history.ts";
import type { Answers } from "../conversation/state.ts";
import { lastCalls } from "../conversation/waiting.ts";
import type { AgentEvent, PendingCall, ToolCallBlock } from "../messages.ts";
import { type Ask, checkAnswers, checkFit, isUnanswered } from "./questions.ts";
import { runSideBySide, type ToolRun, takeSideBySide } from "./toolCalls.ts";

/** Takes the calls that run next from the front of `later`; those whose question has no answer go on waiting. */
function takeReady(later: ToolCallBlock[], run: ToolRun): readonly ToolCallBlock[] {
  const group = takeSideBySide(later, run);
  return run.waited.size === 0 ? group : group.filter((call) => !isUnanswered(run.waited.get(call.id)));
}

/**
 * Runs the calls of a reply in their order. One that a guard asks about is held; once it is answered, it runs again with those that wait for it.
 * Returns the questions that stay open, which end the turn.
 */
export async function* runCalls(
  history: History,
  { step, calls }: { readonly step: number; readonly calls: readonly ToolCallBlock[] },
  run: ToolRun,
  ask: Ask | undefined,
  throwIfAborted: () => void,
): AsyncGenerator<AgentEvent, readonly PendingCall[]> {
  const later = [...calls];
  for (;;) {
    while (later.length > 0) {
      throwIfAborted();
      const questions = yield* runSideBySide(takeReady(later, run), run);
      throwIfAborted();
      if (questions.length > 0) await history.hold(step, questions, later);
      if (history.pending.length > 0) break;
    }
    const { pending } = history;
    if (pending.length === 0 || !ask) return pending;
    const answers = await answersOf(pending, ask, run, throwIfAborted);
    if (!answers) return pending;
    later.splice(0, later.length, ...(await takeAnswers(history, answers, run)));
  }
}

/** Asks while the turn runs, as a step of its own: another process goes on with the same answers. Undefined without any. */
async function answersOf(
  pending: readonly PendingCall[],
  ask: Ask,
  { steps }: ToolRun,
  throwIfAborted: () => void,
): Promise<Answers | undefined> {
  const given = await steps.run(`answers:${steps.count("answers")}`, async () => {
    const answers = (await ask(pending)) ?? {};
    throwIfAborted();
    return answers;
  });
  return Object.keys(given).length > 0 ? checkAnswers(pending, given) : undefined;
}

/** Records answers. Returns the calls that wait, which run next. */
export async function takeAnswers(history: History, answers: Answers, run: ToolRun): Promise<readonly ToolCallBlock[]> {
  await checkFit(history.pending, answers, run);
  await history.answer(answers);
  run.waited = new Map(history.waiting);
  return lastCalls(history.messages).filter((call) => run.waited.has(call.id));
}
