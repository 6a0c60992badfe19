import { callsOf, toValidReply, userMessage } from "../conversation/conversation.ts";
import { frozenJson } from "../conversation/frozenJson.ts";
import type { History } from "../conversation/history.ts";
import type { ConversationLine } from "../conversation/state.ts";
import { isAgentError } from "../errors.ts";
import type { AgentEvent } from "../messages.ts";
import type { ChatOptions } from "../options.ts";
import type { Opening, ReplyEvent } from "../provider.ts";
import type { RequestClock } from "../requestClock.ts";
import type { LoopState } from "./loopState.ts";
import { requestReply } from "./requestReply.ts";
import { requestTools } from "./requestTools.ts";
import type { Recorded } from "./steps.ts";

/** A reply of the model and what joined the conversation around it, as its step records them. */
export interface TakenReply {
  readonly reply: ReplyEvent;
  /** The user's messages right before it. */
  readonly steered: readonly string[];
  /** The prompt and tools that its request told the model; null if there was nothing to tell. Absent in older records. */
  readonly announced?: ConversationLine | null;
  /** The user's messages that waited at its end. */
  readonly waiting: readonly string[];
}

/**
 * Takes the next reply of a turn as a step, with what was steered before it. History ends up as the record has it, whether or not the record was
 * written here. Where none is, what was steered stays, also after a failure.
 */
export async function* takeReply(
  state: LoopState,
  step: number,
  clock: RequestClock,
  options: ChatOptions,
): AsyncGenerator<AgentEvent, TakenReply> {
  const { history, steering, steps } = state;
  const delivered: string[] = [];
  let recorded: Recorded<TakenReply> | undefined;
  try {
    recorded = yield* steps.next("reply", () => askForReply(state, step, clock, options, delivered), clock);
  } catch (error) {
    if (!steps.areRecorded) throw error;
    // Told again behind what stays, and where the failure is recorded as it was there: what follows goes by the size of the request.
    await takeBack(state, delivered.splice(0));
    await history.announce(presentOf(state, options));
    throw error;
  } finally {
    // Without a record of it, it waits again.
    if (!recorded && steps.areRecorded) await takeBack(state, delivered);
  }
  const { value, own } = recorded;
  if (value === own) return value;
  const message = frozenJson(value.reply.message);
  for (const { id } of callsOf(message)) history.callIds.add(id);
  if (JSON.stringify(delivered) !== JSON.stringify(value.steered)) {
    // Recorded by an earlier process, or meanwhile by another.
    await takeBack(state, delivered);
    // The caller may have steered the same again on replay.
    for (const text of value.steered) takeOut(steering, text);
    yield* deliverSteering(history, [...value.steered]);
  }
  if (value.announced) await history.record(value.announced);
  const there = [...steering];
  for (const text of value.waiting) if (!takeOut(there, text)) steering.push(text);
  return { ...value, reply: { ...value.reply, message } };
}

/** Asks for a reply behind what was steered, which it notes in `delivered`. */
async function* askForReply(
  state: LoopState,
  step: number,
  clock: RequestClock,
  options: ChatOptions,
  delivered: string[],
): AsyncGenerator<AgentEvent, TakenReply> {
  const { provider, history, limits, steering, steps } = state;
  yield* deliverSteering(history, steering, delivered);
  const present = presentOf(state, options);
  const announced = (await history.announce(present)) ?? null;
  const { messages, opening, changes } = history.state;
  const asked = {
    ...(step === 1 && options.toolChoice && { toolChoice: options.toolChoice }),
    ...(options.answerSchema && { answerSchema: options.answerSchema }),
  };
  const content = { ...present, messages, ...(opening && { opening }), changes, ...asked };
  try {
    const reply = yield* requestReply({ provider, content, clock, limits, callIds: history.callIds });
    return { reply, steered: delivered, announced, waiting: [...steering] };
  } catch (error) {
    // A recorded step that is aborted is not over.
    if (!steps.areRecorded) await keepStoppedText(error, state);
    throw error;
  }
}

function presentOf({ systemPrompt, tools, history }: LoopState, options: ChatOptions): Opening {
  return { systemPrompt, ...requestTools(options.tools ?? tools, history.state.foundTools) };
}

/** Keeps the text of a reply that is stopped: the user has read it. Its thinking and calls are not whole, so they are dropped. */
async function keepStoppedText(error: unknown, { history, provider }: LoopState): Promise<void> {
  const text = isAgentError(error) && error.code === "aborted" ? (error.text ?? "").trimEnd() : "";
  const message = { role: "assistant", content: [{ type: "text", text }] } as const;
  const model = `${provider.name}/${provider.model}`;
  if (text !== "") await history.addReply(toValidReply({ ...message, model }, history.callIds));
}

/** Takes what was delivered, the last of the conversation, out of it again. */
async function takeBack({ history, steering }: LoopState, delivered: readonly string[]): Promise<void> {
  steering.unshift(...delivered);
  await history.retract(delivered.length);
}

/** Moves the texts into the conversation, also those that are added to them meanwhile, and notes them in `delivered`. */
export async function* deliverSteering(
  history: History,
  texts: string[],
  delivered: string[] = [],
): AsyncGenerator<AgentEvent, void> {
  for (let text = texts.shift(); text !== undefined; text = texts.shift()) {
    delivered.push(text);
    await history.record({ type: "message", message: userMessage(text) });
    yield { type: "steering", text };
  }
}

function takeOut(texts: string[], text: string): boolean {
  const index = texts.indexOf(text);
  if (index >= 0) texts.splice(index, 1);
  return index >= 0;
}
