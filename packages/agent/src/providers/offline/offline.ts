import { AgentError } from "../../errors.ts";
import type { AssistantMessage, ToolCallBlock } from "../../messages.ts";
import type { ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { abortedError } from "../../requestClock.ts";
import { nextStep } from "./nextStep.ts";
import { understood } from "./request.ts";
import type { OfflineStep } from "./step.ts";

export interface OfflineProviderOptions {
  /** Default true: the answer comes in several pieces. */
  readonly stream?: boolean | undefined;
}

/**
 * A stand-in that needs no key and no network: a few rules, not a language model. It understands a few requests in plain
 * words (see `understood`), calls the enabled tools and answers from what they return. It composes nothing and replaces a
 * file only when told to. Throws an AgentError `not_understood` for anything else.
 */
export class OfflineProvider implements Provider {
  readonly name = "offline";
  readonly model = "rules";
  readonly #stream: boolean;

  constructor(options: OfflineProviderOptions = {}) {
    this.#stream = options.stream ?? true;
  }

  async *send({ messages, tools, signal }: ModelRequest): AsyncGenerator<ProviderEvent, void> {
    if (signal.aborted) throw abortedError(signal);
    const step = nextStep(
      messages,
      tools.map((tool) => tool.function.name),
    );
    if (!step) throw notUnderstood();
    if ("text" in step)
      for (const text of this.#stream ? pieces(step.text) : [step.text]) yield { type: "text-delta", text };
    const message = replyOf(step, messages.length);
    if ("calls" in step) yield { type: "reply", message, stop: "tool-calls" };
    else yield { type: "reply", message, stop: "stop", ...(step.failed && { failed: true }) };
  }
}

function replyOf(step: OfflineStep, position: number): AssistantMessage {
  const model = "offline/rules";
  if ("text" in step) return { role: "assistant", model, content: [{ type: "text", text: step.text }] };
  const content = step.calls.map(
    (call, index): ToolCallBlock => ({ type: "tool-call", id: `offline_${position}_${index}`, ...call }),
  );
  return { role: "assistant", model, content };
}

function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,40}(?=\s|$)|[\s\S]{1,40}/g) ?? [];
}

function notUnderstood(): AgentError {
  return new AgentError({
    code: "not_understood",
    message: `The offline stand-in is no language model and understands only: ${understood.join("; ")}.`,
  });
}
