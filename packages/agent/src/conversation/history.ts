import type { AssistantMessage, Message, PendingCall, ToolCallBlock, ToolMessage, Usage } from "../messages.ts";
import type { ConversationChange, Opening } from "../provider.ts";
import { type NotRunReason, notRun, openCalls } from "./conversation.ts";
import { announcement, answeredChanges } from "./opening.ts";
import {
  type Answers,
  apply,
  type ConversationLine,
  type ConversationState,
  emptyState,
  type SavedState,
  savedStateOf,
} from "./state.ts";
import { lastCalls, pendingCalls, type WaitingCall, waitingResult } from "./waiting.ts";

/** A second place for the lines of a conversation, as it grows; each method is awaited before the turn goes on. */
export interface Recorder {
  /** Writes in one piece: all lines or, after a crash, the first few. Without `sync` a loss of power may take them. */
  write(lines: readonly ConversationLine[], sync?: boolean): Promise<void>;
  /** Tells that the turn is over: files may be closed. */
  turnEnded(): Promise<void>;
}

/** The conversation of one session: its state, the lines that change it, and where they are recorded. */
export class History {
  /** Changed by lines alone. */
  readonly state: ConversationState = emptyState();
  /** The ids of all calls so far: each is used once in a session. */
  readonly callIds: Set<string>;
  /** Compaction achieved too little: it is tried again above this many tokens. */
  retryCompactionAbove = 0;
  recorder: Recorder | undefined;

  constructor(callIds: Set<string> = new Set()) {
    this.callIds = callIds;
  }

  /** Returns the live array: it grows, and is replaced when messages are taken out. */
  get messages(): readonly Message[] {
    return this.state.messages;
  }

  /** Returns what a session keeps beside the messages. */
  get kept(): SavedState {
    return savedStateOf(this.state, [...this.state.waiting.values()]);
  }

  get pending(): readonly PendingCall[] {
    return pendingCalls(this.state.messages, this.state.waiting);
  }

  /** Applies lines that have happened, then records them: they stay also where they cannot be written. */
  async record(...lines: readonly ConversationLine[]): Promise<void> {
    for (const line of lines) apply(this.state, line);
    await this.recorder?.write(lines);
  }

  /** Applies lines once they are recorded, because another process may have been first. */
  async #claim(...lines: readonly ConversationLine[]): Promise<void> {
    await this.recorder?.write(lines);
    for (const line of lines) apply(this.state, line);
  }

  /** Adds a valid reply and its usage; an empty reply is not kept. */
  async addReply(message: AssistantMessage, usage?: Usage): Promise<void> {
    if (message.content.length > 0) await this.record({ type: "message", message, ...(usage && { usage }) });
    else if (usage) await this.addUsage(usage);
  }

  /** Adds tokens of a reply that is not part of the conversation; resolves to the sum of the session. */
  async addUsage(usage: Usage): Promise<Usage> {
    await this.record({ type: "usage", usage });
    return this.state.usage;
  }

  addResult(message: ToolMessage, data?: unknown): Promise<void> {
    return this.record({ type: "message", message, ...(data !== undefined && { data }) });
  }

  /** Records which calls of the last reply wait: those with a question and those after them. A placeholder is the result of each. */
  hold(step: number, asked: readonly Omit<WaitingCall, "step">[], later: readonly ToolCallBlock[]): Promise<void> {
    const waiting = [...asked, ...later.map((call) => ({ callId: call.id }))];
    const byId = new Map<string, WaitingCall>(waiting.map((call) => [call.callId, { ...call, step }]));
    const lines = lastCalls(this.messages).flatMap((call) => {
      const pending = byId.get(call.id);
      const log = this.state.recorded.get(call.id)?.log;
      return pending ? [{ type: "message", message: waitingResult(call, log), pending } as const] : [];
    });
    return this.#claim(...lines);
  }

  /** Records answers to questions about calls that wait, maybe none: those answered earlier start now. */
  answer(answers: Answers): Promise<void> {
    return this.#claim({ type: "answers", answers });
  }

  /** Records that these calls start: they no longer wait. Those that keep a record begin it. */
  async start(calls: readonly ToolCallBlock[], keepsRecord: (call: ToolCallBlock) => boolean): Promise<void> {
    if (calls.length === 0) return;
    const records = calls.filter(keepsRecord).map(({ id: callId }) => ({ type: "within", callId, lines: [] }) as const);
    await this.#claim({ type: "tool-start", callIds: calls.map((call) => call.id) }, ...records);
  }

  async keep(callId: string, lines: readonly object[], sync: boolean): Promise<void> {
    const line = { type: "within", callId, lines } as const;
    apply(this.state, line);
    await this.recorder?.write([line], sync);
  }

  /** Answers every call that has no result yet as not run. Calls that wait go on waiting as long as there is a question. */
  closeOpenCalls(reason: NotRunReason): Promise<readonly ToolMessage[]> {
    const open = new Set(openCalls(this.messages));
    const isAsked = this.pending.length > 0;
    const calls = lastCalls(this.messages).filter(
      (call) => open.has(call) || (!isAsked && this.state.waiting.has(call.id)),
    );
    return this.close(calls.map((call) => notRun(call, reason)));
  }

  async close(results: readonly ToolMessage[]): Promise<readonly ToolMessage[]> {
    if (results.length > 0) await this.record(...results.map((message) => ({ type: "message", message }) as const));
    return results;
  }

  /** Records what a request that offers `present` must tell the model first. */
  async announce(present: Opening): Promise<ConversationLine | undefined> {
    const line = announcement(this.state, present);
    if (line) await this.record(line);
    return line;
  }

  /** Returns the changes for a request of these messages that the conversation does not keep. */
  changesFor(messages: readonly Message[], present: Opening): readonly ConversationChange[] {
    const changes = answeredChanges(this.messages, this.state.changes);
    const line = announcement({ ...this.state, messages, changes }, present);
    if (line?.type !== "change") return changes;
    const { type: _, ...change } = line;
    return [...changes, { position: messages.length, ...change }];
  }

  /** Removes the last message if it is the user's: the service refused it and would refuse it again. */
  async withdrawUnanswered(): Promise<void> {
    if (this.messages.at(-1)?.role === "user") await this.record({ type: "withdrawn", count: 1, refused: true });
  }

  async retract(count: number): Promise<void> {
    if (count > 0) await this.record({ type: "withdrawn", count });
  }

  /** Goes on from other messages; the deferred tools found so far stay found. */
  async replace(messages: readonly Message[]): Promise<void> {
    this.retryCompactionAbove = 0;
    const foundTools = [...this.state.foundTools];
    await this.record({ type: "messages", messages, ...(foundTools.length > 0 && { foundTools }) });
  }

  /** Returns a copy that goes on from other messages, as `replace` does; `take` does the same here. `added`: what has joined those. */
  draft(messages: readonly Message[]): {
    readonly history: History;
    added(): readonly Message[];
    take(): Promise<void>;
  } {
    const foundTools = this.state.foundTools.size > 0 && { foundTools: [...this.state.foundTools] };
    const lines: ConversationLine[] = [];
    const history = new History(this.callIds);
    history.restore([{ type: "usage", usage: this.state.usage }]);
    history.recorder = { write: async (more) => void lines.push(...more), turnEnded: async () => {} };
    void history.record({ type: "messages", messages, ...foundTools });
    const take = (): Promise<void> => {
      this.retryCompactionAbove = 0;
      return this.record(...lines);
    };
    return { history, added: () => history.messages.slice(messages.length), take };
  }

  /** Starts from the lines of a saved conversation, which must be valid. */
  restore(lines: readonly ConversationLine[]): void {
    for (const line of lines) apply(this.state, line);
    for (const message of this.messages) if (message.role === "tool") this.callIds.add(message.callId);
  }

  /** Forgets the conversation; the recorder is told without waiting for it. */
  clear(): void {
    if (this.messages.length === 0) return;
    this.retryCompactionAbove = 0;
    void this.record({ type: "messages", messages: [] })
      .then(() => this.recorder?.turnEnded())
      .catch(() => undefined);
  }
}
