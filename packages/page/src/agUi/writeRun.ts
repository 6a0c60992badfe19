import { type AGUIEvent, EventType, type Interrupt, type TokenUsage, type ToolCall } from "@ag-ui/core";
import { type AgentEvent, isAgentError, type Message, type Usage } from "@toolcrib/agent";
import type { SessionState } from "../protocol.ts";
import { savedEvents } from "../savedEvents.ts";
import { type AgUiMessage, toolCall, toolMessage, userContent } from "./messages.ts";
import { interruptsOf, pageCallsOf } from "./questions.ts";

/** A run as its client knows it. */
export interface AgUiRun {
  readonly threadId: string;
  readonly runId: string;
  /** True if the input says `protocolVersion: "1.0"`. An earlier client takes no pictures in results, and no run that was cancelled. */
  readonly isCurrent: boolean;
  /** Messages that the client has. `isSent`: they are sent first, in place of those that it has. */
  readonly messages: readonly AgUiMessage[];
  readonly isSent?: boolean;
  /** Tools that the page runs itself. */
  readonly pageTools: ReadonlySet<string>;
  /** Words an error for the user. */
  readonly explain: (error: unknown) => string;
}

type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;

/** A message of this run, which may still grow. */
interface GrowingMessage {
  readonly id: string;
  readonly role: "assistant" | "reasoning" | "user";
  content: string;
  toolCalls?: ToolCall[];
}

type Events = Generator<AGUIEvent, void>;

/** Writes a turn as the events of one run: RUN_STARTED first, RUN_FINISHED or RUN_ERROR last, and nothing open then. Never throws. */
export async function* writeRun(events: AsyncIterable<AgentEvent>, run: AgUiRun): AsyncGenerator<AGUIEvent, void> {
  const writer = new RunWriter(run);
  yield* writer.start();
  try {
    for await (const event of events) yield* writer.take(event);
    yield* writer.fail(new Error("the turn ended without an end event"));
  } catch (error) {
    yield* writer.fail(error);
  }
}

/** Returns the messages of a session as a client would have them that had read all turns. A call that waits has no result. */
export function toAgUiMessages({ messages, pending }: SessionState, isCurrent: boolean): AgUiMessage[] {
  const run = { threadId: "", runId: "message", isCurrent, pageTools: new Set<string>(), explain: String };
  const writer = new RunWriter({ ...run, messages: [] });
  const replies: Message[] = [];
  const tell = (waiting: SessionState["pending"]): void => {
    for (const event of savedEvents(replies.splice(0), waiting).flat()) for (const _ of writer.take(event));
  };
  for (const message of messages) {
    if (message.role !== "user") replies.push(message);
    else {
      tell([]);
      writer.addUser(userContent(message.content));
    }
  }
  tell(pending);
  return writer.messages;
}

class RunWriter {
  readonly #run: AgUiRun;
  /** The client's messages, for a text that has to be taken back. */
  readonly messages: AgUiMessage[];
  readonly #givenIds: ReadonlySet<string>;
  readonly #callIds = new Set<string>();
  #open: GrowingMessage | undefined;
  #step: number | undefined;
  /** Messages of this step that do not count if its request is tried again. */
  #ofStep: AgUiMessage[] = [];
  /** The message that has the calls of this reply. */
  #parent: Pick<GrowingMessage, "id" | "toolCalls"> | undefined;
  #count = 0;
  #usage: TokenUsage | undefined;
  #isOver = false;

  constructor(run: AgUiRun) {
    this.#run = run;
    this.messages = run.messages.map((message) => ({ ...message }));
    this.#givenIds = new Set(run.messages.map(({ id }) => id));
    for (const message of this.messages) {
      if (message.role === "user") this.#parent = undefined;
      if (message.role !== "assistant" || !message.toolCalls) continue;
      for (const { id } of message.toolCalls) this.#callIds.add(id);
      // Answers let the calls of this reply go on: of those behind the one that waited the client knows nothing yet.
      if (message.toolCalls.every(({ metadata }) => metadata?.within === undefined)) this.#parent = message;
    }
  }

  addUser(content: ReturnType<typeof userContent>): void {
    this.messages.push({ id: this.#newId(), role: "user", content });
    this.#parent = undefined;
  }

  *start(): Events {
    const { threadId, runId, isCurrent, isSent } = this.#run;
    yield { type: EventType.RUN_STARTED, threadId, runId, ...(isCurrent && { protocolVersion: "1.0" }) };
    if (isSent) yield this.#snapshot();
  }

  *take(event: AgentEvent): Events {
    switch (event.type) {
      case "step-start":
        return yield* this.#startStep(event.step);
      case "text-delta":
        return yield* this.#addText("assistant", event.text);
      case "reasoning-delta":
        return yield* this.#addText("reasoning", event.text);
      case "tool-call":
        return yield* this.#addCall(event);
      case "tool-progress":
        return yield this.#progress(event);
      case "tool-result":
        return yield* this.#addResult({ ...event, callId: event.id });
      case "steering":
        yield* this.#close();
        yield* this.#addText("user", event.text);
        return yield* this.#close();
      case "retry":
        if (event.discardText) yield* this.#takeBack();
        return yield customEvent(event);
      case "usage":
        this.#usage = addTokens(this.#usage, event.usage, this.#run.isCurrent);
        return yield customEvent(event);
      case "compaction":
      case "thinking-dropped":
      case "unread-call":
        return yield customEvent(event);
      case "end":
        return yield* this.#finish(event);
    }
  }

  /** Ends the run that was stopped, or failed; nothing follows a run that has ended. */
  *fail(error: unknown): Events {
    if (this.#isOver) return;
    const { threadId, runId, isCurrent, explain } = this.#run;
    yield* this.#close();
    yield* this.#endStep();
    const code = isAgentError(error) ? error.code : undefined;
    const usage = this.#usage && { usage: [this.#usage] };
    this.#isOver = true;
    if (code !== "aborted")
      yield { type: EventType.RUN_ERROR, message: explain(error), ...(code && { code }), ...usage };
    else if (isCurrent)
      yield { type: EventType.RUN_FINISHED, threadId, runId, outcome: { type: "cancelled" }, ...usage };
    // An earlier client ends a run with these words itself if it is aborted there.
    else yield { type: EventType.RUN_ERROR, message: "The run was stopped.", code: "abort", ...usage };
  }

  *#finish({ reason, detail, failed, pending = [] }: EventOf<"end">): Events {
    const { threadId, runId, isCurrent, pageTools } = this.#run;
    yield* this.#close();
    yield* this.#endStep();
    this.#isOver = true;
    const interrupts: Interrupt[] = interruptsOf(pending, pageTools);
    const usage = this.#usage && { usage: [this.#usage] };
    const finished = { type: EventType.RUN_FINISHED, threadId, runId, ...usage } as const;
    if (interrupts.length > 0) return yield { ...finished, outcome: { type: "interrupt", interrupts } };
    const result = { reason, ...(detail !== undefined && { detail }), ...(failed && { failed }) };
    const pendingToolCallIds = pageCallsOf(pending, pageTools).map(({ callId }) => callId);
    if (!isCurrent || pendingToolCallIds.length === 0) return yield { ...finished, result };
    yield { ...finished, result, outcome: { type: "success", pendingToolCallIds } };
  }

  *#startStep(step: number): Events {
    yield* this.#close();
    yield* this.#endStep();
    this.#step = step;
    this.#ofStep = [];
    this.#parent = undefined;
    yield { type: EventType.STEP_STARTED, stepName: `step ${step}` };
  }

  *#endStep(): Events {
    if (this.#step !== undefined) yield { type: EventType.STEP_FINISHED, stepName: `step ${this.#step}` };
    this.#step = undefined;
  }

  *#addText(role: GrowingMessage["role"], delta: string): Events {
    if (delta === "") return;
    if (this.#open?.role !== role) yield* this.#close();
    const message = this.#open ?? this.#newMessage(role);
    const { id: messageId } = message;
    if (message !== this.#open && role === "reasoning") {
      yield { type: EventType.REASONING_START, messageId };
      yield { type: EventType.REASONING_MESSAGE_START, messageId, role };
    } else if (message !== this.#open && role !== "reasoning") {
      yield { type: EventType.TEXT_MESSAGE_START, messageId, role };
    }
    this.#open = message;
    message.content += delta;
    if (role === "assistant") this.#parent = message;
    if (role === "reasoning") yield { type: EventType.REASONING_MESSAGE_CONTENT, messageId, delta };
    else yield { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta };
  }

  *#close(): Events {
    if (!this.#open) return;
    const { id: messageId, role } = this.#open;
    this.#open = undefined;
    if (role !== "reasoning") return yield { type: EventType.TEXT_MESSAGE_END, messageId };
    yield { type: EventType.REASONING_MESSAGE_END, messageId };
    yield { type: EventType.REASONING_END, messageId };
  }

  *#addCall({ id: toolCallId, name: toolCallName, args, within }: EventOf<"tool-call">): Events {
    yield* this.#close();
    // The client knows a call that has waited: told again, its arguments would be there twice.
    if (this.#callIds.has(toolCallId)) return;
    this.#callIds.add(toolCallId);
    const isWithin = within !== undefined;
    const parent = (isWithin ? undefined : this.#parent) ?? this.#newMessage("assistant");
    if (!isWithin) this.#parent = parent;
    const call = {
      ...toolCall({ id: toolCallId, name: toolCallName, args }),
      ...(isWithin && { metadata: { within } }),
    };
    parent.toolCalls = [...(parent.toolCalls ?? []), call];
    const { metadata } = call;
    yield {
      ...{ type: EventType.TOOL_CALL_START, toolCallId, toolCallName, parentMessageId: parent.id },
      ...(metadata && { metadata }),
    };
    yield { type: EventType.TOOL_CALL_ARGS, toolCallId, delta: call.function.arguments };
    yield { type: EventType.TOOL_CALL_END, toolCallId };
  }

  *#addResult(result: Parameters<typeof toolMessage>[0]): Events {
    yield* this.#close();
    const message = toolMessage(result, this.#run.isCurrent);
    this.messages.push(message);
    const { id: messageId, ...told } = message;
    yield { type: EventType.TOOL_CALL_RESULT, messageId, ...told };
  }

  #progress({ id: toolCallId, name, progress }: EventOf<"tool-progress">): AGUIEvent {
    const content = { toolCallId, name, ...progress };
    return {
      type: EventType.ACTIVITY_SNAPSHOT,
      messageId: `${toolCallId}:progress`,
      activityType: "tool-progress",
      content,
    };
  }

  /** Takes the text of this step back: the protocol can only send all messages without it. */
  *#takeBack(): Events {
    yield* this.#close();
    if (this.#ofStep.length === 0) return;
    const messages = this.messages.filter((message) => !this.#ofStep.includes(message));
    this.messages.splice(0, this.messages.length, ...messages);
    this.#ofStep = [];
    this.#parent = undefined;
    yield this.#snapshot();
  }

  #snapshot(): AGUIEvent {
    return { type: EventType.MESSAGES_SNAPSHOT, messages: this.messages.map((message) => ({ ...message })) };
  }

  #newMessage(role: GrowingMessage["role"]): GrowingMessage {
    const message: GrowingMessage = { id: this.#newId(), role, content: "" };
    this.messages.push(message);
    this.#ofStep.push(message);
    return message;
  }

  #newId(): string {
    // A client may go on under the id of the run that asked.
    do this.#count += 1;
    while (this.#givenIds.has(`${this.#run.runId}:${this.#count}`));
    return `${this.#run.runId}:${this.#count}`;
  }
}

/** Passes on what the protocol has no event for, under the name that it has here. */
function customEvent({ type: name, ...value }: AgentEvent): AGUIEvent {
  return { type: EventType.CUSTOM, name, value };
}

function addTokens(sum: TokenUsage | undefined, usage: Usage, isCurrent: boolean): TokenUsage {
  const { inputTokens, outputTokens, reasoningTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const plus = (before: number | undefined, count: number): number => (before ?? 0) + count;
  return {
    inputTokens: plus(sum?.inputTokens, inputTokens),
    outputTokens: plus(sum?.outputTokens, outputTokens),
    totalTokens: plus(sum?.totalTokens, inputTokens + outputTokens),
    reasoningTokens: plus(sum?.reasoningTokens, reasoningTokens),
    cachedInputTokens: plus(sum?.cachedInputTokens, cacheReadTokens),
    ...(isCurrent && { cacheWriteInputTokens: plus(sum?.cacheWriteInputTokens, cacheWriteTokens) }),
  };
}
