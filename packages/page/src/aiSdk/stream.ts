// A turn as the chunks of the AI SDK's UI protocol.
import { isDeepStrictEqual } from "node:util";
import { type AgentEvent, isAgentError, type Usage } from "@toolcrib/agent";
import type { UIMessageChunk } from "ai";
import type { SessionState, Turn } from "../protocol.ts";
import * as chunks from "./chunks.ts";
import { lastReply } from "./messages.ts";

type End = Extract<AgentEvent, { type: "end" }>;

const finishReasons = {
  stop: "stop",
  approval: "tool-calls",
  "step-limit": "other",
  stuck: "other",
  "token-limit": "length",
  "context-limit": "length",
  refusal: "content-filter",
  "content-filter": "content-filter",
} as const;

export interface TurnOptions {
  /** The id of the message in the page. Without it the page makes one. */
  readonly messageId: string | undefined;
  /** All of the message that the turn goes on with is written, for a page that joins. */
  readonly isWhole: boolean;
  readonly explain: (error: unknown) => string;
}

export async function* turnChunks(
  turn: Turn,
  { messageId, isWhole, explain }: TurnOptions,
): AsyncGenerator<UIMessageChunk, void> {
  const writer = new Writer(turn);
  yield { type: "start", ...(messageId !== undefined && { messageId }) };
  if (isWhole && turn.continues) yield* writer.begun.flat();
  let end: End | undefined;
  try {
    for await (const event of turn.events()) {
      if (event.type === "end") end = event;
      yield* writer.take(event);
    }
    yield* writer.settle(turn.after());
    const { reason = "stop", detail, failed } = end ?? {};
    const messageMetadata = { endReason: reason, usage: writer.usage, detail, failed };
    yield { type: "finish", finishReason: finishReasons[reason], messageMetadata };
  } catch (error) {
    yield* writer.settle(turn.after());
    const isStopped = isAgentError(error) && error.code === "aborted";
    const messageMetadata = { endReason: isStopped ? "stopped" : "error", usage: writer.usage };
    yield { type: "message-metadata", messageMetadata };
    yield isStopped ? { type: "abort", reason: error.message } : { type: "error", errorText: explain(error) };
  }
}

/** Makes chunks of events, and knows what the page shows. */
class Writer {
  /** The steps of the message that the turn goes on with. */
  readonly begun: UIMessageChunk[][];
  usage: Usage | undefined;
  readonly #turn: Turn;
  /** The parts of each step of the message. */
  readonly #steps: chunks.Part[][];
  /** The session no longer has all steps in this message. */
  #isCut = false;
  /** The next chunk begins a step: one that shows nothing is none. */
  #isBetween: boolean;
  /** A message comes in place of answers: what is told before the first step are the calls of the message before. */
  #isBefore: boolean;
  #open: { readonly type: "text" | "reasoning"; readonly phase: string | undefined; readonly id: string } | undefined;
  #count = 0;
  readonly #files: UIMessageChunk[] = [];
  readonly #programs: Map<string, chunks.Call> = new Map();

  constructor(turn: Turn) {
    this.#turn = turn;
    this.begun = turn.continues ? chunks.savedSteps(lastReply(turn.before).messages, turn.before) : [];
    this.#steps = this.begun.map(partsOf);
    this.#isBetween = this.#steps.length === 0;
    this.#isBefore = !turn.continues;
  }

  *take(event: AgentEvent): Generator<UIMessageChunk, void> {
    switch (event.type) {
      case "text-delta":
        yield* this.#text("text", event.text, event.phase);
        return;
      case "reasoning-delta":
        yield* this.#text("reasoning", event.text, undefined);
        return;
      case "tool-progress":
        yield { type: "data-progress", id: event.id, data: { ...event.progress }, transient: true };
        return;
      case "usage":
        if (event.callId === undefined) this.usage = event.total;
        return;
    }
    yield* this.#close();
    switch (event.type) {
      case "step-start":
        yield* this.#show(...this.#files.splice(0));
        this.#isBefore = false;
        this.#isBetween = true;
        break;
      case "tool-call":
        if (!this.#isBefore) yield* this.#call(event);
        break;
      case "tool-result":
        if (!this.#isBefore) yield* this.#result(event);
        break;
      case "retry":
        yield* this.#reset();
        yield notice("retry", event.message);
        break;
      case "steering":
        yield* this.#show(...this.#files.splice(0));
        yield {
          ...{ type: "steering-message", id: `steering-${this.#steps.length}` },
          parts: [{ type: "text", text: event.text }],
        };
        this.#isCut = true;
        break;
      case "end":
        yield* this.#show(...this.#files.splice(0), ...(event.pending ?? []).flatMap(chunks.questionChunks));
        break;
      case "thinking-dropped":
        yield notice(event.type, event.reason);
        break;
      case "unread-call":
        yield notice(event.type, event.message);
        break;
      case "compaction":
        this.#isCut = true;
        yield notice(event.type, "The conversation was shortened.");
    }
  }

  /** Makes the page show what the session keeps of the last reply: after a failure or a stop it may be less than was shown, or more. */
  *settle(after: SessionState | undefined): Generator<UIMessageChunk, void> {
    yield* this.#close();
    yield* this.#show(...this.#files.splice(0));
    if (!after) return;
    const user = this.#turn.before.messages.findLast(({ role }) => role === "user");
    const isKept = this.#isCut || user === undefined || after.messages.includes(user);
    const kept = isKept ? chunks.savedSteps(lastReply(after).messages, after) : [];
    const last = this.#steps.length - 1;
    const at = last - (this.#isCut ? this.#forgotten(kept.map(partsOf)) : 0);
    const step = kept[at];
    if (last >= 0 && !this.#isBetween && !(step && isSame(partsOf(step), this.#parts))) {
      yield* this.#reset();
      yield* this.#show(...(step?.slice(1) ?? []));
    }
    for (const more of kept.slice(at + 1)) {
      this.#isBetween = true;
      yield* this.#show(...more.slice(1));
    }
  }

  /** Counts the steps of the message that come before those that the session keeps of it. */
  #forgotten(kept: readonly (readonly chunks.Part[])[]): number {
    const whole = this.#isBetween ? this.#steps.length : this.#steps.length - 1;
    for (let count = 0; count < whole; count += 1)
      if (this.#steps.slice(count, whole).every((parts, index) => isSame(parts, kept[index] ?? []))) return count;
    return Math.max(0, whole);
  }

  get #parts(): chunks.Part[] {
    return this.#steps.at(-1) ?? [];
  }

  *#show(...all: readonly UIMessageChunk[]): Generator<UIMessageChunk, void> {
    for (const chunk of all) {
      if (this.#isBetween) {
        this.#isBetween = false;
        // One that was taken back shows nothing: the next takes its place.
        if (this.#steps.at(-1)?.length !== 0) {
          this.#steps.push([]);
          yield { type: "start-step" };
        }
      }
      chunks.applyChunk(this.#parts, chunk);
      yield chunk;
    }
  }

  *#text(type: "text" | "reasoning", delta: string, phase: string | undefined): Generator<UIMessageChunk, void> {
    if (this.#open?.type !== type || this.#open.phase !== phase) yield* this.#close();
    if (!this.#open) {
      // The blank line between two texts is none of the second one.
      const isSecond = !this.#isBetween && this.#parts.some((part) => part.type === type);
      const first = isSecond ? delta.replace(/^\n+/, "") : delta;
      if (first === "") return;
      this.#count += 1;
      this.#open = { type, phase, id: `${type}-${this.#count}` };
      yield* this.#show({ type: `${type}-start`, id: this.#open.id }, this.#delta(first));
    } else yield* this.#show(this.#delta(delta));
  }

  #delta(delta: string): UIMessageChunk {
    const { type = "text", id = "" } = this.#open ?? {};
    return { type: `${type}-delta`, id, delta };
  }

  *#close(): Generator<UIMessageChunk, void> {
    if (!this.#open) return;
    const { type, id } = this.#open;
    this.#open = undefined;
    yield* this.#show(chunks.endChunk(type, id));
  }

  /** Takes back what the page shows of the present step. */
  *#reset(): Generator<UIMessageChunk, void> {
    if (this.#isBetween || this.#parts.length === 0) return;
    this.#parts.length = 0;
    yield { type: "reset-step" };
  }

  *#call(call: chunks.Call): Generator<UIMessageChunk, void> {
    if (call.within === undefined && chunks.isComposite(call.name, this.#turn.before)) {
      this.#programs.set(call.id, call);
      yield* this.#show(chunks.programChunk(call, "running"));
    } else yield* this.#show(chunks.callChunk(call));
  }

  *#result(result: Extract<AgentEvent, { type: "tool-result" }>): Generator<UIMessageChunk, void> {
    const program = this.#programs.get(result.id);
    if (program) yield* this.#show(chunks.programChunk(program, "done"), chunks.callChunk(program));
    yield* this.#show(chunks.resultChunk(result.id, result));
    this.#files.push(...chunks.fileChunks(result));
  }
}

function partsOf(step: readonly UIMessageChunk[]): chunks.Part[] {
  const parts: chunks.Part[] = [];
  for (const chunk of step.slice(1)) chunks.applyChunk(parts, chunk);
  return parts;
}

function isSame(...[some, others]: [readonly chunks.Part[], readonly chunks.Part[]]): boolean {
  return isDeepStrictEqual(shownOf(some), shownOf(others));
}

/** Leaves out what no session keeps: calls within others, and what was answered. */
function shownOf(parts: readonly chunks.Part[]): unknown[] {
  return parts.flatMap((part): unknown[] => {
    if (part.type !== "dynamic-tool") return part.type === "data-program" ? [] : [{ ...part, id: undefined }];
    const { toolCallId, state, input, output, errorText, toolMetadata } = part;
    return toolMetadata ? [] : [{ toolCallId, state, input, output, errorText }];
  });
}

/** Tells what the page may show for a moment; it is no part of the message. */
function notice(kind: string, text: string): UIMessageChunk {
  return { type: "data-notice", data: { kind, text }, transient: true };
}
