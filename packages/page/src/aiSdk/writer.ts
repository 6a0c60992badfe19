// The events of a turn as the chunks of the AI SDK's UI protocol, and as the parts that a page makes of them.
import { isDeepStrictEqual } from "node:util";
import type { AgentEvent, Message, Usage } from "@toolcrib/agent";
import type { UIMessageChunk } from "ai";
import type { SessionState } from "../protocol.ts";
import { lastReplies, savedEvents } from "../savedEvents.ts";
import * as made from "./parts.ts";

/** Returns the parts of what followed a message of the user. */
export function savedParts(messages: readonly Message[], state: SessionState): made.Part[] {
  const steps = stepsOf(savedEvents(messages, state.pending).flat(), state);
  return steps.flatMap((step): made.Part[] => [{ type: "step-start" }, ...step]);
}

function stepsOf(events: Iterable<AgentEvent>, state: SessionState): made.Part[][] {
  const writer = new Writer(state);
  for (const _ of writer.tell(events));
  return writer.steps;
}

/** Makes chunks of events, and knows what the page shows. */
export class Writer {
  usage: Usage | undefined;
  /** A message comes in place of answers: what is told before the first step are the calls of the message before. */
  isBefore = false;
  /** The parts of each step of the message. */
  readonly steps: made.Part[][] = [];
  readonly #before: SessionState;
  /** The session no longer has all steps in this message. */
  #isCut = false;
  /** The next part begins a step: one that shows nothing is none. */
  #isBetween = true;
  #open: { readonly part: TextPart; readonly phase: string | undefined; readonly id: string } | undefined;
  #count = 0;
  readonly #files: made.Part[] = [];
  readonly #programs: Map<string, made.Call> = new Map();

  /** `before` is the session as the turn found it. */
  constructor(before: SessionState) {
    this.#before = before;
  }

  /** Writes all that there is to tell of a reply. */
  *tell(events: Iterable<AgentEvent>): Generator<UIMessageChunk, void> {
    for (const event of events) yield* this.take(event);
    yield* this.#close();
    yield* this.#show(...this.#files.splice(0));
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
        this.isBefore = false;
        this.#isBetween = true;
        break;
      case "tool-call":
        if (!this.isBefore) yield* this.#call(event);
        break;
      case "tool-result":
        if (!this.isBefore) yield* this.#result(event);
        break;
      case "retry":
        yield* this.#reset();
        yield notice("retry", event.message);
        break;
      case "steering":
        yield* this.#show(...this.#files.splice(0));
        yield {
          ...{ type: "steering-message", id: `steering-${this.steps.length}` },
          parts: [{ type: "text", text: event.text }],
        };
        this.#isCut = true;
        break;
      case "end":
        yield* this.#show(...this.#files.splice(0), ...(event.pending ?? []).map(made.questionPart));
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
    yield* this.tell([]);
    if (!after) return;
    const user = this.#before.messages.findLast(({ role }) => role === "user");
    const isKept = this.#isCut || user === undefined || after.messages.includes(user);
    const saved = isKept ? savedEvents(lastReplies(after.messages), after.pending) : [];
    const kept = saved.flatMap((events) => stepsOf(events, after).map((parts) => ({ events, parts })));
    const last = this.steps.length - 1;
    const at = last - (this.#isCut ? this.#forgotten(kept) : 0);
    if (last >= 0 && !this.#isBetween && !isSame(kept[at]?.parts, this.#parts)) {
      yield* this.#reset();
      yield* this.tell(kept[at]?.events ?? []);
    }
    for (const { events } of kept.slice(at + 1)) yield* this.tell(events);
  }

  /** Counts the steps of the message that come before those that the session keeps of it. */
  #forgotten(kept: readonly { readonly parts: readonly made.Part[] }[]): number {
    const whole = this.#isBetween ? this.steps.length : this.steps.length - 1;
    for (let count = 0; count < whole; count += 1)
      if (this.steps.slice(count, whole).every((parts, index) => isSame(kept[index]?.parts, parts))) return count;
    return Math.max(0, whole);
  }

  get #parts(): made.Part[] {
    return this.steps.at(-1) ?? [];
  }

  /** Adds parts to the step; one of a call, or of a program, stands in for the one that is there. */
  *#show(...all: readonly made.Part[]): Generator<UIMessageChunk, void> {
    for (const part of all) {
      yield* this.#begin();
      const there = this.#parts.findLast((one) => keyOf(one) !== undefined && keyOf(one) === keyOf(part));
      if (there) Object.assign(there, part);
      else this.#parts.push(part);
      yield* made.chunksOf(part);
    }
  }

  *#begin(): Generator<UIMessageChunk, void> {
    if (!this.#isBetween) return;
    this.#isBetween = false;
    // One that was taken back shows nothing: the next takes its place.
    if (this.steps.at(-1)?.length === 0) return;
    this.steps.push([]);
    yield { type: "start-step" };
  }

  *#text(type: TextPart["type"], given: string, phase: string | undefined): Generator<UIMessageChunk, void> {
    if (this.#open?.part.type !== type || this.#open.phase !== phase) yield* this.#close();
    let delta = given;
    if (!this.#open) {
      // The blank line between two texts is none of the second one.
      if (!this.#isBetween && this.#parts.some((part) => part.type === type)) delta = given.replace(/^\n+/, "");
      if (delta === "") return;
      yield* this.#begin();
      this.#count += 1;
      const id = `${type}-${this.#count}`;
      const part: TextPart =
        type === "text" ? { type, text: "", state: "done" } : { type, id, text: "", state: "done" };
      this.#open = { part, phase, id };
      this.#parts.push(part);
      yield { type: `${type}-start`, id };
    }
    this.#open.part.text += delta;
    yield { type: `${type}-delta`, id: this.#open.id, delta };
  }

  *#close(): Generator<UIMessageChunk, void> {
    if (this.#open) yield { type: `${this.#open.part.type}-end`, id: this.#open.id };
    this.#open = undefined;
  }

  /** Takes back what the page shows of the present step. */
  *#reset(): Generator<UIMessageChunk, void> {
    if (this.#isBetween || this.#parts.length === 0) return;
    this.#parts.length = 0;
    yield { type: "reset-step" };
  }

  *#call(call: made.Call): Generator<UIMessageChunk, void> {
    const hasQuestions = this.#before.pending.some(({ within }) => within === call.id);
    if (hasQuestions || (call.within === undefined && this.#before.tools?.get(call.name)?.composite)) {
      this.#programs.set(call.id, call);
      yield* this.#show(made.programPart(call, "running"));
    } else yield* this.#show(made.callPart(call));
  }

  *#result(result: Extract<AgentEvent, { type: "tool-result" }>): Generator<UIMessageChunk, void> {
    const program = this.#programs.get(result.id);
    if (program) yield* this.#show(made.programPart(program, "done"), made.callPart(program));
    Object.assign(this.#parts.findLast((part) => keyOf(part) === result.id) ?? {}, made.resultOf(result));
    yield made.resultChunk(result.id, result);
    this.#files.push(...made.fileParts(result));
  }
}

type TextPart = Extract<made.Part, { type: "text" | "reasoning" }>;

function keyOf(part: made.Part): string | undefined {
  if (part.type === "data-program") return `program ${"id" in part && part.id}`;
  return part.type === "dynamic-tool" ? part.toolCallId : undefined;
}

function isSame(some: readonly made.Part[] = [], others: readonly made.Part[]): boolean {
  return isDeepStrictEqual(shownOf(some), shownOf(others));
}

/** Leaves out what no session keeps: calls within others, and what was answered. */
function shownOf(parts: readonly made.Part[]): unknown[] {
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
