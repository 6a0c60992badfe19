import type { ClientCapabilities, SessionUpdate } from "@agentclientprotocol/sdk";
import type { AgentEvent, PendingCall } from "@toolcrib/agent";
import { clip, withoutControls } from "@toolcrib/core/text";
import { progressContent, resultContent } from "./output.ts";
import { fenced } from "./promptContent.ts";
import { parentOf, type ShownCall, showCall } from "./toolCalls.ts";
import type { AcpCall, AcpSession } from "./types.ts";

type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;

/** Tells a client what happens in the turns of one session. */
export class TurnReporter {
  readonly #session: AcpSession;
  readonly #send: (update: SessionUpdate) => Promise<void>;
  readonly #client: ClientCapabilities;
  /** Calls that the client knows. */
  readonly #known: Set<string> = new Set();
  /** Those without a result. */
  readonly #open: Set<string> = new Set();
  /** Those that have started before the client was told of them, as a program's may. */
  readonly #started: Set<string> = new Set();
  /** Those whose diff the client shows: it stays in place of a result that repeats it. */
  readonly #diffed: Set<string> = new Set();
  #messageId: string = crypto.randomUUID();
  /** Half of a character, whose other half comes next. */
  #half = "";

  constructor(session: AcpSession, send: (update: SessionUpdate) => Promise<void>, client: ClientCapabilities) {
    this.#session = session;
    this.#send = send;
    this.#client = client;
  }

  /** Records that the client was told of this call in the history; `isOpen`: it waits for an answer. */
  knows(callId: string, isOpen: boolean): void {
    this.#known.add(callId);
    if (isOpen) this.#open.add(callId);
  }

  async report(event: AgentEvent, signal: AbortSignal): Promise<void> {
    switch (event.type) {
      case "step-start":
        this.#newMessage();
        return;
      case "text-delta":
      case "reasoning-delta":
        return this.#reportText(event);
      case "tool-call":
        return this.#reportCall(event, signal);
      case "tool-progress":
        if (event.progress.message === undefined) return;
        return this.#send({
          sessionUpdate: "tool_call_update",
          toolCallId: event.id,
          content: progressContent(event.progress.message),
        });
      case "tool-result":
        return this.#reportResult(event);
      case "retry":
        if (event.discardText) this.#newMessage();
        return this.notice("warning", event.message);
      case "usage":
        return this.#reportUsage(event);
      case "compaction":
        return this.#reportCompaction();
      case "unread-call":
        return this.notice("warning", event.message);
      case "thinking-dropped":
      case "steering":
      case "end":
        return;
    }
  }

  /** Sends a line for the user that is no part of the conversation; a client that takes none is told nothing. */
  async notice(severity: "info" | "warning" | "error", message: string): Promise<void> {
    if (!this.#client.session?.notices) return;
    await this.#send({ sessionUpdate: "notice", severity, title: clip(withoutControls(message), 500) });
  }

  /** Tells the user of something that does not work here, in whatever form the client takes. */
  async problem(message: string): Promise<void> {
    const text = clip(withoutControls(message).trim(), 4000);
    if (this.#client.session?.notices) {
      const title = clip(text.split("\n", 1)[0] ?? "", 500);
      const more = title === text ? {} : { description: text };
      return this.#send({ sessionUpdate: "notice", severity: "warning", title, ...more });
    }
    const content = { type: "text", text: `${fenced(text)}\n` } as const;
    await this.#send({ sessionUpdate: "agent_message_chunk", messageId: crypto.randomUUID(), content });
  }

  /** Tells that a call has really started. */
  started(toolCallId: string): void {
    if (!this.#known.has(toolCallId)) this.#started.add(toolCallId);
    if (!this.#open.has(toolCallId)) return;
    void this.#send({ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" });
  }

  /** Sends a message of the agent that no model wrote. */
  async say(text: string): Promise<void> {
    this.#newMessage();
    await this.#reportText({ type: "text-delta", text });
    this.#newMessage();
  }

  /** Describes a call for a question, as it would run now. */
  async describe(call: PendingCall, signal: AbortSignal): Promise<ShownCall> {
    const shown = await showCall(call, this.#session, signal);
    if (!this.#known.has(call.callId)) await this.#tell(call.callId, call, shown, call.within);
    return shown;
  }

  /** Marks calls without a result as failed: the turn is over. */
  async failOpenCalls(): Promise<void> {
    const open = [...this.#open];
    this.#open.clear();
    this.#started.clear();
    for (const toolCallId of open)
      await this.#send({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
  }

  #newMessage(): void {
    this.#messageId = crypto.randomUUID();
    this.#half = "";
  }

  async #reportText({ type, text }: EventOf<"text-delta"> | EventOf<"reasoning-delta">): Promise<void> {
    const whole = this.#half + text;
    const isCut = /[\ud800-\udbff]$/.test(whole);
    this.#half = isCut ? whole.slice(-1) : "";
    const shown = withoutControls(isCut ? whole.slice(0, -1) : whole);
    if (shown === "") return;
    const sessionUpdate = type === "text-delta" ? "agent_message_chunk" : "agent_thought_chunk";
    await this.#send({ sessionUpdate, messageId: this.#messageId, content: { type: "text", text: shown } });
  }

  async #reportCall({ id, name, args, within }: EventOf<"tool-call">, signal: AbortSignal): Promise<void> {
    const shown = await showCall({ name, args }, this.#session, signal);
    this.#open.add(id);
    if (shown.diffs.length > 0) this.#diffed.add(id);
    if (!this.#known.has(id)) return this.#tell(id, { name, args }, shown, within);
    const { title, kind, locations, diffs: content } = shown;
    const update = { toolCallId: id, status: "pending", title, kind, locations, content } as const;
    await this.#send({ sessionUpdate: "tool_call_update", ...update });
  }

  async #tell(
    toolCallId: string,
    { name, args }: AcpCall,
    { diffs: content, ...shown }: ShownCall,
    within: string | undefined,
  ): Promise<void> {
    this.#known.add(toolCallId);
    this.#open.add(toolCallId);
    const status = this.#started.delete(toolCallId) ? "in_progress" : "pending";
    const call = { toolCallId, name, status, rawInput: args, ...shown, content, ...parentOf(within) } as const;
    await this.#send({ sessionUpdate: "tool_call", ...call });
  }

  async #reportResult({ id, output, isError, content, data }: EventOf<"tool-result">): Promise<void> {
    this.#open.delete(id);
    const keepsDiff = this.#diffed.delete(id) && !isError;
    const shown = resultContent({ output, isError, ...(content && { content }), data });
    await this.#send({
      sessionUpdate: "tool_call_update",
      toolCallId: id,
      status: isError ? "failed" : "completed",
      ...(!keepsDiff && { content: shown }),
      rawOutput: data === undefined ? { output } : { output, data },
    });
  }

  async #reportUsage({ usage, total, callId }: EventOf<"usage">): Promise<void> {
    const { contextWindow: size } = this.#session;
    // An agent within a call has a context of its own.
    if (size === undefined || callId !== undefined) return;
    const used = usage.inputTokens + usage.outputTokens;
    const cost = total.cost === undefined ? {} : { cost: { amount: total.cost, currency: "USD" } };
    await this.#send({ sessionUpdate: "usage_update", used, size, ...cost });
  }

  async #reportCompaction(): Promise<void> {
    if (!this.#client.session?.compaction) return;
    const compactionId = crypto.randomUUID();
    await this.#send({ sessionUpdate: "compaction_update", compactionId, status: "completed" });
  }
}
