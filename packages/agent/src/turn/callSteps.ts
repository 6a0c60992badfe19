import type { ExecutableTool } from "@toolcrib/core";
import { interrupted } from "../conversation/conversation.ts";
import { frozenJson } from "../conversation/frozenJson.ts";
import type { ToolCallBlock, ToolMessage, Usage } from "../messages.ts";
import { abortedError } from "../requestClock.ts";
import type { Asked } from "./approvals.ts";
import type { Steps } from "./steps.ts";

/** The end of a call: with its result, or with a question. The step of a call is recorded as this. */
export type CallEnd =
  | { readonly result: ToolMessage; readonly data?: unknown; readonly usage?: Usage; readonly asked?: undefined }
  | { readonly asked: Asked; readonly usage?: Usage; readonly result?: undefined };

interface CallSteps {
  readonly tools: { get(name: string): ExecutableTool | undefined };
  readonly signal: AbortSignal;
  readonly steps: Steps;
  /** Runs the call, which may end with a question. */
  execute(): Promise<CallEnd>;
  /** Called at once when the runner of the steps fails, while the call may still run. */
  onFailure(error: unknown): void;
}

/**
 * Runs a call as its steps and resolves to how it ended, which is what was recorded where something was. Where the runner fails:
 * to how the call ended here, once it has, so that the conversation does not say that it never ran.
 */
export async function runCallSteps(
  call: ToolCallBlock,
  { tools, signal, steps, execute, onFailure }: CallSteps,
): Promise<CallEnd | undefined> {
  if (!steps.areRecorded) return execute();
  const uses = steps.count(`call:${call.id}`);
  const key = uses === 1 ? call.id : `${call.id}:${uses}`;
  const isRepeatable = mayRunTwice(tools, call.name);
  let own: CallEnd | undefined;
  let running: Promise<CallEnd> | undefined;
  try {
    let mayRun = isRepeatable || (await claimStart(steps, key));
    const end = await steps.run(`call:${key}`, async (): Promise<CallEnd> => {
      if (!mayRun) return { result: interrupted(call) };
      // A claim is good for one start.
      mayRun = isRepeatable;
      running = execute();
      own = await running;
      if (signal.aborted && own.result?.isError !== false) throw abortedError(signal);
      return own;
    });
    return end === own ? end : frozenJson(end);
  } catch (error) {
    // An abort ends the turn by itself.
    if (!(signal.aborted && running)) onFailure(error);
    return await running;
  }
}

/** Returns whether a second run does no harm. An unknown tool does nothing at all. */
function mayRunTwice(tools: CallSteps["tools"], name: string): boolean {
  try {
    const tool = tools.get(name);
    return !tool || tool.readOnly === true || tool.idempotent === true;
  } catch {
    // Its getter throws, so the tool does not state it.
    return false;
  }
}

/**
 * Returns whether this process may start the call. The record is the claim: its value is a token of the attempt that has written it. A token of
 * another says that the call was started before, here or elsewhere. Before the guards decide, as no step may run inside another.
 */
async function claimStart(steps: Steps, key: string): Promise<boolean> {
  let token: string | undefined;
  const recorded = await steps.run(`start:${key}`, async () => {
    token ??= crypto.randomUUID();
    return token;
  });
  return token !== undefined && recorded === token;
}
