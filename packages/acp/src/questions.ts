import {
  type AgentContext,
  methods,
  type PermissionOption,
  type RequestPermissionOutcome,
  type ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import type { PendingCall } from "@toolcrib/agent";
import { clip, isObject, messageOf, showInvisible } from "@toolcrib/core/text";
import { textContent } from "./output.ts";
import { argumentsContent } from "./toolCalls.ts";
import type { TurnReporter } from "./turnReporter.ts";
import type { AcpSession } from "./types.ts";

/** Puts the questions about calls that wait to the client's user. */
export interface Asking {
  readonly session: AcpSession;
  readonly client: AgentContext;
  readonly reporter: TurnReporter;
  readonly signal: AbortSignal;
}

/** Answers by the id of the call; undefined where the user left a question without an answer: then nothing is answered. */
export async function askAll(asking: Asking): Promise<Record<string, boolean | string> | undefined> {
  const answers: Record<string, boolean | string> = {};
  for (const call of asking.session.agent.pending) {
    // Recorded before the process ended.
    if (call.answer !== undefined) continue;
    const answer = await ask(call, asking);
    if (answer === undefined) return undefined;
    answers[call.callId] = answer;
  }
  return answers;
}

async function ask(call: PendingCall, asking: Asking): Promise<boolean | string | undefined> {
  const outcome = await choice(call, asking);
  if (outcome.outcome !== "selected") return undefined;
  switch (outcome.optionId) {
    case "always":
      await remember(call, asking);
      return true;
    case "once":
      return true;
    default:
      return "the user rejected this call";
  }
}

/** `cancelled` too where the turn ends or the client is gone meanwhile: the question stays open. */
async function choice(
  call: PendingCall,
  { session, client, reporter, signal }: Asking,
): Promise<RequestPermissionOutcome> {
  const { diffs, ...shown } = await reporter.describe(call, signal);
  const always = session.policy && rememberedText(call);
  const options: PermissionOption[] = [
    { optionId: "once", name: "Allow", kind: "allow_once" },
    ...(always === undefined ? [] : [{ optionId: "always", name: always, kind: "allow_always" } as const]),
    { optionId: "reject", name: "Reject", kind: "reject_once" },
  ];
  const question = textContent(clip(showInvisible(call.question.text), 2000));
  const toolCall: ToolCallUpdate = {
    ...shown,
    toolCallId: call.callId,
    name: call.name,
    status: "pending",
    rawInput: call.args,
    content: [question, ...(diffs.length > 0 ? diffs : [argumentsContent(call)])],
  };
  try {
    const { outcome } = await client.request(
      methods.client.session.requestPermission,
      { sessionId: session.id, toolCall, options },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    return outcome;
  } catch (error) {
    if (signal.aborted) return { outcome: "cancelled" };
    throw error;
  }
}

/** Describes what an always-yes would hold for, in the policy's words. */
function rememberedText({ question }: PendingCall): string | undefined {
  const remember = isObject(question.data) ? question.data.remember : undefined;
  if (!isObject(remember) || typeof remember.text !== "string") return undefined;
  return `Always allow: ${clip(showInvisible(remember.text), 200)}`;
}

/** The call runs even where the answer could not be kept: it was a yes. */
async function remember({ name, args, question }: PendingCall, { session, reporter }: Asking): Promise<void> {
  const tool = session.agent.toolRegistry.get(name);
  if (!tool) return;
  try {
    await session.policy?.remember({ name, args, tool }, question);
  } catch (error) {
    await reporter.notice("warning", `The answer holds for this call alone: ${messageOf(error)}`);
  }
}
