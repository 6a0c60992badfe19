import { callsOf, userMessage } from "../conversation/conversation.ts";
import { frozenJson } from "../conversation/frozenJson.ts";
import type { History } from "../conversation/history.ts";
import type { AssistantMessage } from "../messages.ts";
import type { ChatOptions } from "../options.ts";
import type { ReplyEvent } from "../provider.ts";
import { abortedError, type RequestClock } from "../requestClock.ts";
import type { LoopState } from "./loopState.ts";
import type { Recorded, RecordedSteps } from "./recordedSteps.ts";
import { type ReplyRequest, requestReply } from "./requestReply.ts";
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

/** The request for the reply of a step of a turn. */
export function replyRequest(
  { provider, tools, history, limits, systemPrompt }: LoopState,
  step: number,
  clock: RequestClock,
  options: ChatOptions,
): ReplyRequest {
  const content = {
    systemPrompt,
    messages: history.messages,
    ...requestTools(options.tools ?? tools, history.foundTools),
    ...(step === 1 && options.toolChoice ? { toolChoice: options.toolChoice } : {}),
  };
  return { provider, content, clock, limits, callIds: history.callIds };
}

/**
 * The next reply as a recorded step, with what was steered before it. History ends up as the record has it, whether or not the record
 * was written here.
 */
export function* takeRecordedReply(state: LoopState, steps: RecordedSteps, request: ReplyRequest): Steps<TakenReply> {
  const { history, steering } = state;
  const delivered: string[] = [];
  let recorded: Recorded<TakenReply> | undefined;
  try {
    const work = (): Steps<TakenReply> => takeReply(state, request, delivered);
    recorded = yield* steps.next("reply", work, request.clock);
  } finally {
    // Without a record of it, it waits again.
    if (!recorded) yield* takeBack(state, delivered);
  }
  if (!recorded) throw abortedError(request.clock.signal);
  const { value, own } = recorded;
  if (value === own) return value;
  const message = frozenJson(value.reply.message) as AssistantMessage;
  for (const { id } of callsOf(message)) history.callIds.add(id);
  if (JSON.stringify(delivered) !== JSON.stringify(value.steered)) {
    // Recorded by an earlier process, or meanwhile by another.
    yield* takeBack(state, delivered);
    // Whoever replays may have steered the same again.
    for (const text of value.steered) takeOut(steering, text);
    yield* deliverSteering(history, [...value.steered]);
  }
  const there = [...steering];
  for (const text of value.waiting) if (!takeOut(there, text)) steering.push(text);
  return { ...value, reply: { ...value.reply, message } };
}

function* takeReply({ history, steering }: LoopState, request: ReplyRequest, steered: string[]): Steps<TakenReply> {
  yield* deliverSteering(history, steering, steered);
  const reply = yield* requestReply(request);
  return { reply, steered, waiting: [...steering] };
}

/** Takes what was delivered, the last of the conversation, out of it again. */
function* takeBack({ history, steering }: LoopState, delivered: readonly string[]): Steps {
  steering.unshift(...delivered);
  const retracted = history.retract(delivered.length);
  if (retracted !== undefined) yield* until(retracted);
}

/** Moves the texts into the conversation, also those that are added to them meanwhile, and notes them in `delivered`. */
export function* deliverSteering(history: History, texts: string[], delivered: string[] = []): Steps {
  for (let text = texts.shift(); text !== undefined; text = texts.shift()) {
    delivered.push(text);
    const added = history.add(userMessage(text));
    if (added !== undefined) yield* until(added);
    yield { type: "steering", text };
  }
}

/** Whether the text was there. */
function takeOut(texts: string[], text: string): boolean {
  const index = texts.indexOf(text);
  if (index >= 0) texts.splice(index, 1);
  return index >= 0;
}
