import { isObject } from "@toolcrib/core/text";
import type { Message, Usage } from "../messages.ts";
import type { ConversationChange, Opening } from "../provider.ts";
import { interrupted, notRun, openCalls } from "./conversation.ts";
import { type Announced, answeredChanges, type ChangeLine, type OpeningLine } from "./opening.ts";
import { addUsage, noUsage } from "./usage.ts";
import { type Answer, putResult, type WaitingCall, withAnswers, withoutResults } from "./waiting.ts";

/** By the id of the call. */
export type Answers = Readonly<Record<string, Answer>>;

/** A change of a conversation, as a journal keeps it. `at`: when it was written, ISO 8601, UTC; absent in a session at hand. */
export type ConversationLine =
  /** `usage`: of the reply. `data`: what a result shows. `pending`: it stands for a call that waits. A second result replaces the first. */
  | {
      readonly type: "message";
      readonly at?: string;
      readonly message: Message;
      readonly usage?: Usage;
      readonly data?: unknown;
      readonly pending?: WaitingCall;
    }
  /** Answers to the questions about calls that wait, by id. */
  | { readonly type: "answers"; readonly answers: Answers }
  /** These calls are about to run. */
  | { readonly type: "tool-start"; readonly at?: string; readonly callIds: readonly string[] }
  /** Lines of the record of a composite call that runs, behind those that it has. The first ones of a run hold the answers that it got. */
  | { readonly type: "within"; readonly callId: string; readonly lines: readonly object[] }
  | OpeningLine
  | ChangeLine
  /** The last `count` messages were taken out. `refused`: the service refused them. */
  | { readonly type: "withdrawn"; readonly count: number; readonly refused?: true }
  /** Tokens of a reply that is not part of the conversation. */
  | { readonly type: "usage"; readonly usage: Usage }
  /** The conversation is now these messages. */
  | {
      readonly type: "messages";
      readonly messages: readonly Message[];
      readonly pending?: readonly WaitingCall[];
      readonly foundTools?: readonly string[];
      readonly opening?: Opening;
      readonly changes?: readonly ConversationChange[];
    };

export interface ConversationState extends Announced {
  messages: Message[];
  usage: Usage;
  /** Tokens of the last request and its reply, as the service counted them. */
  contextTokens: number | undefined;
  /** As the lines say. */
  systemPrompt: string;
  readonly foundTools: Set<string>;
  /** Calls of the last reply that wait, by id; the result of each in `messages` is a placeholder. */
  readonly waiting: Map<string, WaitingCall>;
  /** Calls of the last reply that were started. */
  readonly started: Set<string>;
  /** Those of them that keep a record, each as it would go on: by its record. */
  readonly recorded: Map<string, WaitingCall & { readonly log: object[] }>;
}

/** The parts of a conversation that a saved session keeps beside its messages. Empty ones are absent. */
export interface SavedState {
  /** Of the session so far. */
  readonly usage?: Usage;
  /** Calls of the last reply that wait for an answer, or for those before them; the result of each in `messages` says so. */
  readonly pending?: readonly WaitingCall[];
  /** Deferred tools that were found. */
  readonly foundTools?: readonly string[];
  /** The content of the first request, and the changes since. */
  readonly opening?: Opening;
  readonly changes?: readonly ConversationChange[];
}

/** Picks what a session keeps of a state in which these calls wait. */
export function savedStateOf(
  { usage, foundTools, opening, changes }: ConversationState,
  pending: readonly WaitingCall[],
): SavedState {
  return {
    usage,
    ...(pending.length > 0 && { pending }),
    ...(foundTools.size > 0 && { foundTools: [...foundTools] }),
    ...(opening && { opening }),
    ...(opening && changes.length > 0 && { changes }),
  };
}

export function emptyState(): ConversationState {
  return {
    messages: [],
    usage: noUsage,
    contextTokens: undefined,
    systemPrompt: "",
    opening: undefined,
    openedAt: 0,
    changes: [],
    foundTools: new Set(),
    waiting: new Map(),
    started: new Set(),
    recorded: new Map(),
  };
}

/** Changes the state by one line. The only place that says what a line means: for the loop, a journal that is read and its transcript. */
export function apply(state: ConversationState, line: ConversationLine): void {
  switch (line.type) {
    case "message":
      applyMessage(state, line);
      break;
    case "answers":
      for (const [id, answer] of Object.entries(line.answers)) {
        const call = state.waiting.get(id);
        if (call) state.waiting.set(id, { ...call, answer });
      }
      for (const [id, call] of state.waiting) state.waiting.set(id, withAnswers(call, line.answers));
      break;
    case "tool-start":
      for (const id of line.callIds) state.started.add(id);
      release(state, line.callIds);
      break;
    case "within":
      applyWithin(state, line);
      break;
    case "opening": {
      const { type: _, ...opening } = line;
      Object.assign(state, {
        opening,
        openedAt: state.messages.length,
        changes: [],
        systemPrompt: opening.systemPrompt,
      });
      break;
    }
    case "change":
      applyChange(state, line);
      break;
    case "withdrawn":
      keepFirst(state, state.messages.slice(0, state.messages.length - line.count));
      break;
    case "usage":
      state.usage = addUsage(state.usage, line.usage);
      break;
    case "messages":
      applyMessages(state, line);
      break;
    default:
      line satisfies never;
  }
}

function applyMessage(
  state: ConversationState,
  { message, usage, data, pending }: Extract<ConversationLine, { type: "message" }>,
): void {
  if (usage) {
    state.usage = addUsage(state.usage, usage);
    state.contextTokens = usage.inputTokens + usage.outputTokens;
  }
  if (message.role !== "tool") {
    closeCalls(state);
    if (message.role === "assistant") state.started.clear();
    state.recorded.clear();
    state.messages.push(message);
    return;
  }
  for (const name of foundBy(message.name, data)) state.foundTools.add(name);
  state.waiting.delete(message.callId);
  putResult(state.messages, message);
  const log = pending?.log ?? state.recorded.get(message.callId)?.log;
  state.recorded.delete(message.callId);
  if (!pending) return;
  state.waiting.set(message.callId, log ? { ...pending, log } : pending);
  state.started.delete(message.callId);
}

function applyWithin(
  { recorded, messages }: ConversationState,
  { callId, lines }: Extract<ConversationLine, { type: "within" }>,
): void {
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const step = messages.slice(lastUser + 1).filter(({ role }) => role === "assistant").length;
  const call = recorded.get(callId) ?? { callId, step, log: [] };
  call.log.push(...lines);
  const { within, question, ...rest } = call;
  // They are answered, and the answers are in the record.
  recorded.set(callId, within && lines.length > 0 ? rest : call);
}

/** Returns the names that a call of `search_tools` has found, from the data of its outcome; none for any other tool. */
function foundBy(toolName: string, data: unknown): readonly string[] {
  if (toolName !== "search_tools" || !isObject(data) || !Array.isArray(data.tools)) return [];
  return data.tools.filter((name) => typeof name === "string");
}

/** Ends the calls that a process left open when it ended, and those that waited for them. */
function closeCalls(state: ConversationState): void {
  if ((state.messages.at(-1)?.role ?? "user") === "user") return;
  release(state, [...state.waiting.keys()]);
  for (const call of openCalls(state.messages))
    putResult(state.messages, state.started.has(call.id) ? interrupted(call) : notRun(call, "aborted"));
}

/** Takes the placeholders of these calls away: they no longer wait, and are open. */
function release(state: ConversationState, callIds: readonly string[]): void {
  if (state.waiting.size === 0) return;
  for (const id of callIds) {
    const call = state.waiting.get(id);
    if (call?.log) state.recorded.set(id, { ...call, log: [...call.log] });
  }
  const released = new Set(callIds.filter((id) => state.waiting.delete(id)));
  if (released.size > 0) state.messages = withoutResults(state.messages, released);
}

function applyChange(state: ConversationState, { type: _, ...change }: ChangeLine): void {
  const before = answeredChanges(state.messages, state.changes);
  const isNone = Object.keys(change).length === 0;
  state.changes = isNone ? before : [...before, { position: state.messages.length, ...change }];
  state.systemPrompt = change.systemPrompt ?? state.systemPrompt;
}

function keepFirst(state: ConversationState, messages: Message[]): void {
  const { length } = messages;
  state.messages = messages;
  state.openedAt = Math.min(state.openedAt, length);
  if (state.changes.some(({ position }) => position > length))
    state.changes = state.changes.filter(({ position }) => position <= length);
}

function applyMessages(state: ConversationState, line: Extract<ConversationLine, { type: "messages" }>): void {
  const { messages, pending = [], foundTools = [], opening, changes = [] } = line;
  state.waiting.clear();
  state.recorded.clear();
  for (const call of pending) state.waiting.set(call.callId, call);
  state.foundTools.clear();
  for (const name of foundTools) state.foundTools.add(name);
  state.contextTokens = undefined;
  Object.assign(state, { messages: [...messages], opening, changes, openedAt: 0 });
}
