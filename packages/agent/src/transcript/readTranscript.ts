import { apply, type ConversationLine, emptyState } from "../conversation/state.ts";
import { addUsage } from "../conversation/usage.ts";
import { openSession } from "../session/openSession.ts";
import type { Session } from "../session/session.ts";
import type { Transcript, TranscriptCall, TranscriptItem, TranscriptTurn } from "./transcript.ts";

const refused = "The service refused the message, so it was removed from the conversation.";

/** Reads a journal, a saved session or a session at hand. Throws an AgentError `bad_session`. */
export async function readTranscript(fileOrSession: string | Session): Promise<Transcript> {
  const { session, lines } = await openSession(fileOrSession);
  if (!lines) return fromSession(session);
  const timeline = new Timeline();
  for (const line of lines) timeline.take(line);
  const { name, savedAt, systemPrompt } = session;
  return { ...timeline.done(), name, startedAt: savedAt, systemPrompt };
}

/** Converts a session to a transcript: without times, and with only the total of tokens. */
export function fromSession(session: Session): Transcript {
  const { messages, pending, name, systemPrompt, usage } = session;
  const timeline = new Timeline();
  timeline.take({ type: "messages", messages, ...(pending && { pending }) });
  return { ...timeline.done(), name, systemPrompt, usage };
}

type Open<T> = { -readonly [Key in keyof T]: T[Key] };
type OpenTurn = Open<Omit<TranscriptTurn, "items">> & { items: TranscriptItem[] };

/** Puts the lines of a journal in the order in which people read them. */
class Timeline {
  readonly #state = emptyState();
  readonly #turns: OpenTurn[] = [];
  readonly #calls: Map<string, Open<TranscriptCall>> = new Map();
  readonly #models: Set<string> = new Set();

  take(line: ConversationLine): void {
    const before = this.#state.messages.length;
    apply(this.#state, line);
    switch (line.type) {
      case "message":
        this.#takeMessage(line);
        break;
      case "tool-start":
        for (const id of line.callIds) this.#change(id, { startedAt: line.at });
        break;
      case "messages":
        this.#replace(line, before);
        break;
      case "withdrawn":
        this.#note(line.refused ? refused : "The message was taken back.");
        break;
      case "change":
        if (line.systemPrompt !== undefined) this.#note("The system prompt was changed.");
    }
    for (const { callId, question, answer } of this.#state.waiting.values())
      this.#change(callId, { question: question?.text, answer });
  }

  done(): Pick<Transcript, "turns" | "models" | "usage"> {
    const known = this.#turns.flatMap(({ usage }) => (usage ? [usage] : []));
    const usage = known.length > 0 ? known.reduce(addUsage) : undefined;
    return { turns: this.#turns, models: [...this.#models], usage };
  }

  #takeMessage({ message, at, usage }: Extract<ConversationLine, { type: "message" }>): void {
    if (message.role === "tool") {
      const { callId, output, isError, content } = message;
      this.#change(callId, { output, isError, content, endedAt: at });
      if (at !== undefined && this.#turns.length > 0) this.#turn.endedAt = at;
      return;
    }
    if (message.role === "user") {
      this.#turns.push({ user: message.content, startedAt: at, endedAt: at, items: [] });
      return;
    }
    const turn = this.#turn;
    if (at !== undefined) turn.endedAt = at;
    if (usage) turn.usage = turn.usage ? addUsage(turn.usage, usage) : usage;
    if (message.model !== undefined) this.#models.add(message.model);
    for (const block of message.content) {
      if (block.type !== "tool-call") {
        if (block.text.trim() !== "") turn.items.push({ type: block.type, text: block.text });
        continue;
      }
      const call: Open<TranscriptCall> = { type: "call", id: block.id, name: block.name, args: block.args };
      turn.items.push(call);
      this.#calls.set(block.id, call);
    }
  }

  #replace(line: Extract<ConversationLine, { type: "messages" }>, before: number): void {
    const { messages } = line;
    if (this.#turns.length === 0) for (const message of messages) this.#takeMessage({ type: "message", message });
    else if (messages.length === 0) this.#note("The conversation was cleared.");
    else this.#note(`The conversation was shortened from ${before} messages to ${messages.length}.`);
  }

  get #turn(): OpenTurn {
    const last = this.#turns.at(-1);
    if (last) return last;
    const first: OpenTurn = { user: [], items: [] };
    this.#turns.push(first);
    return first;
  }

  #note(text: string): void {
    this.#turn.items.push({ type: "note", text });
  }

  #change(id: string, change: Partial<TranscriptCall>): void {
    Object.assign(this.#calls.get(id) ?? {}, change);
  }
}
