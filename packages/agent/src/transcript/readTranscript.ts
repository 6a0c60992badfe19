import { isObject, messageOf } from "@toolcrib/core/text";
import { addUsage } from "../conversation/usage.ts";
import type { ToolMessage, Usage } from "../messages.ts";
import { openSession, readSession } from "../session/openSession.ts";
import { badSession, type JournalLine, type Session } from "../session/session.ts";
import type { Transcript, TranscriptCall, TranscriptItem, TranscriptTurn } from "./transcript.ts";

/** Reads a journal, a saved session or a session at hand. Throws an AgentError `bad_session`. */
export async function readTranscript(fileOrSession: string | Session): Promise<Transcript> {
  const { session, journal } = await openSession(fileOrSession);
  if (typeof fileOrSession !== "string" || !journal) return fromSession(session);
  const timeline = new Timeline();
  let text: string;
  try {
    // Checked above, line by line; a line that a crash has torn is not among these bytes.
    text = (await readSession(fileOrSession)).bytes.toString("utf8", 0, journal.bytes);
  } catch (cause) {
    throw badSession(fileOrSession, messageOf(cause), cause);
  }
  for (const line of text.split("\n").slice(0, -1)) timeline.take(JSON.parse(line) as JournalLine);
  const { name, savedAt, systemPrompt } = session;
  return { ...timeline.done(), name, startedAt: savedAt, systemPrompt };
}

/** What a session holds: without times, and with the tokens of all its turns alone. */
export function fromSession(session: Session): Transcript {
  const timeline = new Timeline();
  for (const message of session.messages) timeline.take({ type: "message", message });
  for (const { callId, question, answer } of session.pending ?? []) timeline.ask(callId, question?.text, answer);
  const { name, systemPrompt, usage } = session;
  return { ...timeline.done(), name, systemPrompt, usage };
}

type Open<T> = { -readonly [Key in keyof T]: T[Key] };
type OpenTurn = Open<Omit<TranscriptTurn, "items">> & { items: TranscriptItem[] };

/** Puts the lines of a journal in the order in which people read them. */
class Timeline {
  readonly #turns: OpenTurn[] = [];
  readonly #calls: Map<string, Open<TranscriptCall>> = new Map();
  readonly #models: Set<string> = new Set();
  /** How many messages the conversation has. */
  #length = 0;

  take(line: JournalLine): void {
    switch (line.type) {
      case "message":
        this.#takeMessage(line);
        break;
      case "tool-start":
        for (const id of line.callIds) this.#change(id, { startedAt: line.at });
        break;
      case "answers":
        for (const [id, answer] of Object.entries(line.answers)) this.#change(id, { answer });
        break;
      case "messages":
        this.#replace(line);
        break;
      case "system-prompt":
        this.#note("The system prompt was changed.");
    }
  }

  ask(callId: string, question: string | undefined, answer: boolean | string | undefined): void {
    this.#change(callId, { question, answer });
  }

  done(): Pick<Transcript, "turns" | "models" | "usage"> {
    const known = this.#turns.flatMap(({ usage }) => (usage ? [usage] : []));
    const usage = known.length > 0 ? known.reduce(addUsage) : undefined;
    return { turns: this.#turns, models: [...this.#models], usage };
  }

  #takeMessage({ message, at, usage, pending }: Extract<JournalLine, { type: "message" }>): void {
    if (message.role === "tool") {
      this.#takeResult(message, at, pending?.question?.text);
      return;
    }
    this.#length += 1;
    if (message.role === "user") {
      this.#turns.push({ user: message.content, startedAt: at, endedAt: at, items: [] });
      return;
    }
    const turn = this.#turn;
    if (at !== undefined) turn.endedAt = at;
    if (isObject(usage)) turn.usage = turn.usage ? addUsage(turn.usage, usage as Usage) : usage;
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

  #takeResult(message: ToolMessage, at: string | undefined, question: string | undefined): void {
    const { output, isError, content } = message;
    if (this.#calls.get(message.callId)?.output === undefined) this.#length += 1;
    this.#change(message.callId, {
      output,
      isError,
      content,
      endedAt: at,
      ...(question !== undefined && { question }),
    });
    if (at !== undefined && this.#turns.length > 0) this.#turn.endedAt = at;
  }

  #replace({ messages, refused }: Extract<JournalLine, { type: "messages" }>): void {
    const before = this.#length;
    if (this.#turns.length === 0) for (const message of messages) this.#takeMessage({ type: "message", message });
    else if (refused) this.#note("The service refused the message, so it was taken out of the conversation.");
    else if (messages.length === 0) this.#note("The conversation was cleared.");
    else this.#note(`The conversation was shortened from ${before} messages to ${messages.length}.`);
    this.#length = messages.length;
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
