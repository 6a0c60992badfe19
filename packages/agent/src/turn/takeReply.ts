import { callsOf, userMessage } from "../conversation/conversation.ts";
import { frozenJson } from "../conversation/frozenJson.ts";
import type { History } from "../conversation/history.ts";
import type { AssistantMessage } from "../messages.ts";
import type { ChatOptions } from "../options.ts";
import type { ReplyEvent } from "../provider.ts";
import type { RequestClock } from "../requestClock.ts";
import type { LoopState } from "./loopState.ts";
import type { RecordedSteps } from "./recordedSteps.ts";
import { requestReply } from "./requestReply.ts";
import { requestTools } from "./requestTools.ts";
import { type Steps, until } from "./steps.ts";

/** A reply of the model and the user's messages around it, as its step records them. */
interface TakenReply {
  readonly reply: ReplyEvent;
  /** What joined the conversation right before it. */
  readonly steered: readonly string[];
  /** What waited at its end. */
  readonly waiting: readonly string[];
}

/** One step of a turn, and what its request needs. */
interface ReplyStep {
  readonly step: number;
  readonly clock: RequestClock;
  readonly options: ChatOptions;
}

const none: readonly string[] = [];

/** Asks the model for its next reply, after delivering what waits. */
export function* takeReply(state: LoopState, { step, clock, options }: ReplyStep): Steps<TakenReply> {
  const { provider, tools, history, limits, steering, systemPrompt } = state;
  const steered = steering.length > 0 ? yield* deliverSteering(history, steering) : none;
  yield { type: "step-start", step };
  const content = {
    systemPrompt,
    messages: history.messages,
    ...requestTools(options.tools ?? tools, history.foundTools),
    ...(step === 1 && options.toolChoice ? { toolChoice: options.toolChoice } : {}),
  };
  const reply = yield* requestReply({ provider, content, clock, limits, callIds: history.callIds });
  return { reply, steered, waiting: steering.length > 0 ? [...steering] : none };
}

/** The same as a recorded step: history ends up as the record has it, whether or not it was written here. */
export function* takeRecordedReply(state: LoopState, steps: RecordedSteps, asked: ReplyStep): Steps<TakenReply> {
  const { history, steering } = state;
  const { value, own } = yield* steps.next(
    "reply",
    () => takeReply(state, asked),
    () => asked.clock.abort(),
  );
  if (value === own) return value;
  const message = frozenJson(value.reply.message) as AssistantMessage;
  for (const { id } of callsOf(message)) history.callIds.add(id);
  if (JSON.stringify(own?.steered) !== JSON.stringify(value.steered)) {
    if (own) {
      // Another process has written the record meanwhile.
      steering.unshift(...own.steered);
      const retracted = history.retract(own.steered.length);
      if (retracted !== undefined) yield* until(retracted);
    }
    // Whoever replays may have steered the same again.
    for (const text of value.steered) takeOut(steering, text);
    yield* deliverSteering(history, [...value.steered]);
  }
  if (!own) yield { type: "step-start", step: asked.step };
  const there = [...steering];
  for (const text of value.waiting) if (!takeOut(there, text)) steering.push(text);
  return { ...value, reply: { ...value.reply, message } };
}

/** Adds the texts to the conversation, also those that are added to them meanwhile; returns them. */
export function* deliverSteering(history: History, texts: string[]): Steps<readonly string[]> {
  const delivered: string[] = [];
  for (let text = texts.shift(); text !== undefined; text = texts.shift()) {
    delivered.push(text);
    const added = history.add(userMessage(text));
    if (added !== undefined) yield* until(added);
    yield { type: "steering", text };
  }
  return delivered;
}

/** Whether the text was there. */
function takeOut(texts: string[], text: string): boolean {
  const index = texts.indexOf(text);
  if (index >= 0) texts.splice(index, 1);
  return index >= 0;
}
