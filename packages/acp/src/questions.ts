import {
  type AgentContext,
  methods,
  type PermissionOption,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
} from "@agentclientprotocol/sdk";
import type { Answer, PendingCall } from "@toolcrib/agent";
import { choicesOf, offeredFolder, showLine, showLines } from "@toolcrib/core/internal";
import { clip, isObject, messageOf } from "@toolcrib/core/text";
import { textContent } from "./output.ts";
import { argumentsContent, parentOf } from "./toolCalls.ts";
import type { TurnReporter } from "./turnReporter.ts";
import type { AcpSession } from "./types.ts";

/** Puts the questions about calls that wait to the client's user. */
export interface Asking {
  readonly session: AcpSession;
  readonly client: AgentContext;
  readonly reporter: TurnReporter;
  readonly signal: AbortSignal;
}

/**
 * Resolves to answers by the id of the call; undefined where the user left a question without an answer: then nothing is answered. A question whose
 * answer is in free words stays open: no client has a form for it.
 */
export async function askAll(asking: Asking): Promise<Record<string, Answer> | undefined> {
  const answers: Record<string, Answer> = {};
  const covered = new Set<string>();
  for (const call of asking.session.agent.pending) {
    const similar = `${call.within} ${call.name}`;
    // Recorded before the process ended; or one that an answer for several covers, or else it is asked about again.
    if (call.answer !== undefined || needsFreeText(call) || covered.has(similar)) continue;
    const answer = await ask(call, asking);
    if (answer === undefined) return undefined;
    answers[call.callId] = answer;
    if (answer === several) covered.add(similar);
  }
  return answers;
}

/** Returns whether the answer to a question is in free words, which the client sends as a message. */
export function needsFreeText({ question, answer }: PendingCall): boolean {
  return answer === undefined && question.needs !== undefined && choicesOf(question).length === 0;
}

/** Words a question of the model, so that it cannot pass for one of a guard. */
export function modelQuestion({ question }: PendingCall): string {
  return `The model asks: ${clip(showLines(question.text), 4000)}`;
}

/** The answer for more calls of a program: that many are shown in the option's name. */
const several: Answer = { upTo: 50 };

/** An option that the client shows, and the answer that it stands for. */
interface Offer extends PermissionOption {
  readonly answer: Answer;
}

/** Asks about one call; undefined if the user has left the question. */
async function ask(call: PendingCall, asking: Asking): Promise<Answer | undefined> {
  const { session, client, reporter, signal } = asking;
  const { callId: toolCallId, name, args: rawInput, within, question } = call;
  const { diffs, ...shown } = await reporter.describe(call, signal);
  const offers = question.needs ? choicesFor(call) : permissionsFor(call, session);
  const details = diffs.length > 0 ? diffs : [argumentsContent(call)];
  const content = question.needs
    ? [textContent(modelQuestion(call))]
    : [textContent(showLine(question.text, 2000)), ...details];
  const about = { toolCallId, name, status: "pending", rawInput, ...parentOf(within), content } as const;
  const options = offers.map(({ answer: _, ...option }) => option);
  const request = { sessionId: session.id, toolCall: { ...shown, ...about }, options };
  const outcome = await requestChoice(request, client, signal);
  if (outcome.outcome !== "selected") return undefined;
  if (outcome.optionId === "always") await remember(call, asking);
  // The last one is a no.
  return (offers.find(({ optionId }) => optionId === outcome.optionId) ?? offers.at(-1))?.answer;
}

/** Offers the answers that a question of the model has. */
function choicesFor({ question }: PendingCall): Offer[] {
  const choices = choicesOf(question).map((output, index): Offer => {
    return { optionId: `choice-${index}`, name: showLine(output, 200), kind: "allow_once", answer: { output } };
  });
  return [...choices, { optionId: "none", name: "No answer", kind: "reject_once", answer: "the user gave no answer" }];
}

function permissionsFor(call: PendingCall, { policy }: AcpSession): Offer[] {
  const always = policy && rememberedText(call);
  const folder = call.within === undefined ? undefined : offeredFolder(call.question);
  const more = `Allow up to 50 such calls of this program, below ${showLine(folder ?? "", 200)}`;
  const offers: (Offer | undefined)[] = [
    { optionId: "once", name: "Allow", kind: "allow_once", answer: true },
    always === undefined ? undefined : { optionId: "always", name: always, kind: "allow_always", answer: true },
    folder === undefined ? undefined : { optionId: "several", name: more, kind: "allow_always", answer: several },
    { optionId: "reject", name: "Reject", kind: "reject_once", answer: "the user rejected this call" },
  ];
  return offers.filter((offer) => offer !== undefined);
}

/** Asks the client to choose; `cancelled` also if the turn ends or the client is gone meanwhile: the question stays open. */
async function requestChoice(
  request: RequestPermissionRequest,
  client: AgentContext,
  signal: AbortSignal,
): Promise<RequestPermissionOutcome> {
  try {
    const { outcome } = await client.request(methods.client.session.requestPermission, request, {
      cancellationSignal: signal,
      stopWaitingOnCancel: true,
    });
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
  return `Always allow: ${showLine(remember.text, 200)}`;
}

/** Keeps an answer. The call runs even if it could not be kept: it was a yes. */
async function remember({ name, args, question }: PendingCall, { session, reporter }: Asking): Promise<void> {
  const tool = session.agent.toolRegistry.get(name);
  if (!tool) return;
  try {
    await session.policy?.remember({ name, args, tool }, question);
  } catch (error) {
    await reporter.notice("warning", `The answer covers only this call: ${messageOf(error)}`);
  }
}
