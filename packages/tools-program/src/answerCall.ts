// One call of a program, as a call of the registry.
import {
  type AnyToolRegistry,
  type Approve,
  type ExecuteOptions,
  renderOutcome,
  type StepStart,
  type ToolOutcome,
} from "@toolcrib/core";
import { attempt, leftOpen } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { type Asked, approvalOf, openQuestion } from "./approval.ts";
import type { GuestCall } from "./engine/messages.ts";
import type { LogLine, ProgramLog } from "./programLog.ts";

/** Most bytes of what a call takes from a program, and of what it gives it. */
const mostBytes = 2 ** 20;

/** The result that a program gets: a value, or an error with its code. */
export type CallAnswer = { readonly value: unknown } | { readonly message: string; readonly code: string };

/** The end of a call, as JSON: its result, or a question. */
export type CallEnd =
  | ({ readonly answer: CallAnswer; readonly time: number; readonly asked?: undefined } & StepLines)
  /** Without a question: it must wait, as a call before it does. */
  | ({ readonly asked: Asked | undefined; readonly answer?: undefined } & StepLines);

/** Lines that a call has added to the record: of a step, which has a record of its own, once it has ended. */
interface StepLines {
  readonly lines?: readonly LogLine[];
}

export interface AnswerSettings {
  /** The registry that runs the calls. */
  readonly registry: AnyToolRegistry;
  /** The id of the program's own call; those of its calls are `OUTER:n`. */
  readonly outer: string;
  readonly options: Omit<ExecuteOptions, "callId" | "within">;
  readonly log: ProgramLog;
  /** Returns why programs may not call a tool that the registry has. */
  readonly refusal: (name: string) => string | undefined;
}

/** Runs a call, unless it is held, or may have run before and must not run twice. Rejects only if it is a step that was ended from outside. */
export async function answerCall(
  { registry, outer, options, refusal, log }: AnswerSettings,
  { number, name, args: text, isHeld }: GuestCall & { readonly isHeld?: boolean },
  { mayHaveRun, ...binding }: StepStart,
  keep: (lines: readonly LogLine[]) => Promise<boolean>,
): Promise<CallEnd> {
  const lines: LogLine[] = [];
  const ended = (answer: CallAnswer): CallEnd => ({ answer, time: Date.now(), lines });
  if (mayHaveRun) return ended(failure(name, "Interrupted; may have run"));
  const refused = refusal(name);
  if (refused !== undefined) return ended({ message: refused, code: "not_available" });
  const bytes = Buffer.byteLength(text);
  if (bytes > mostBytes)
    return ended({
      ...failure(name, `Invalid arguments: they have ${bytes} bytes, a call of a program at most ${mostBytes}`),
      code: "invalid_arguments",
    });
  const given = attempt((): { args: unknown } => ({ args: JSON.parse(text) }));
  // Not called without any.
  if (!given) return ended(failure(name, "Invalid arguments: they are not JSON"));
  const callId = `${outer}:${number}`;
  let asked: Asked | undefined;
  let instead = false;
  const write = async (more: readonly LogLine[]): Promise<boolean> =>
    log.step ? lines.push(...more) > 0 : await keep(more);
  const approve: Approve = async (guarded, question) => {
    const approval = await approvalOf(guarded, question, { number, callId, log, approve: options.approve, write });
    if ("answer" in approval) {
      instead = isObject(approval.answer) && "output" in approval.answer;
      return approval.answer;
    }
    asked = approval.asked;
    return leftOpen;
  };
  const asks = options.approve !== undefined || log.isKept;
  const caller = { ...options.caller, ...binding };
  const settings = { ...options, caller, callId, within: outer, ...(asks && { approve }) };
  if (isHeld)
    return { asked: await openQuestion(registry, log, { number, callId, name, args: given.args, options: settings }) };
  const outcome = await registry.invoke(name, given.args, settings);
  if (asked) return { asked, lines };
  if (!outcome.ok && log.step) options.signal?.throwIfAborted();
  return ended(attempt(() => read(registry, name, outcome, instead)) ?? failure(name, "its result cannot be read"));
}

/** `instead`: somebody has answered in the tool's place, by a text. */
function read(registry: AnyToolRegistry, name: string, outcome: ToolOutcome, instead: boolean): CallAnswer {
  if (!outcome.ok) return { message: renderOutcome(name, outcome), code: outcome.error.code };
  if (registry.get(name)?.outputSchema !== undefined) {
    if (outcome.data !== undefined) return { value: outcome.data };
    if (instead) return failure(name, `it did not run; the answer in its place is: ${outcome.output}`);
    return failure(name, `it gave no data for a program, of at most ${mostBytes} bytes and as its outputSchema says`);
  }
  const bytes = Buffer.byteLength(outcome.output);
  if (bytes <= mostBytes) return { value: outcome.output };
  return failure(name, `its result has ${bytes} bytes, that of a call of a program at most ${mostBytes}: ask for less`);
}

export function failure(name: string, why: string): CallAnswer {
  return { message: `Error executing ${name}: ${why}`, code: "execution_failed" };
}
