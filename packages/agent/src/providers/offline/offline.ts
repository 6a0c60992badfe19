import { textOf } from "../../conversation/conversation.ts";
import { AgentError } from "../../errors.ts";
import type { AssistantMessage, Message, ToolCallBlock, ToolMessage } from "../../messages.ts";
import type { ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { abortedError } from "../../requestClock.ts";
import { argumentsText } from "../shared/wireText.ts";
import { answer, type IsEnabled, type OfflineAnswer, type OfflineCall, type Script } from "./answer.ts";
import { type OfflineRequest, parseRequest, understood } from "./request.ts";
import { survey } from "./survey.ts";

interface OfflineProviderOptions {
  /** Default true: the answer comes in several pieces. */
  readonly stream?: boolean | undefined;
}

/**
 * A stand-in that needs no key and no network: a few rules, not a language model. It understands a few requests in plain
 * words (see `understood`), calls the enabled tools and answers from what they return. It composes nothing and replaces no
 * file. Throws an AgentError `not_understood` for anything else.
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
    const start = messages.findLastIndex((message) => message.role === "user");
    const user = messages[start];
    const request = parseRequest(user?.role === "user" ? textOf(user) : "");
    if (!request) throw notUnderstood();
    const isEnabled = (name: string): boolean => tools.some((tool) => tool.function.name === name);
    const step = continueScript(scriptFor(request, isEnabled), messages.slice(start + 1));
    if ("text" in step) {
      for (const text of this.#stream ? pieces(step.text) : [step.text]) yield { type: "text-delta", text };
      const message = messageOf([{ type: "text", text: step.text }]);
      yield { type: "reply", message, stop: "stop", ...(step.failed && { failed: true }) };
    } else {
      const calls = step.map(
        (call, index): ToolCallBlock => ({ type: "tool-call", id: `offline_${messages.length}_${index}`, ...call }),
      );
      yield { type: "reply", message: messageOf(calls), stop: "tool-calls" };
    }
  }
}

function* scriptFor(request: OfflineRequest, isEnabled: IsEnabled): Script {
  if (request.kind === "survey") return yield* survey(request, isEnabled);
  if (request.kind !== "help") return yield* answer(request, isEnabled);
  const lines = understood.map((line) => `- ${line}`);
  return { text: `I am the offline stand-in: a few rules, not a language model. I understand:\n\n${lines.join("\n")}` };
}

/** Runs a script as far as the results since the user's message reach: to the calls that come next, or to the answer. */
function continueScript(script: Script, since: readonly Message[]): OfflineAnswer | readonly OfflineCall[] {
  const calls = since.flatMap((message) =>
    message.role === "assistant" ? message.content.filter((block) => block.type === "tool-call") : [],
  );
  const results = since.filter((message) => message.role === "tool");
  const resultOf = ({ name, args }: OfflineCall): ToolMessage | undefined => {
    const made = calls.find((call) => call.name === name && argumentsText(call.args) === argumentsText(args));
    return results.find(({ callId }) => callId === made?.id);
  };
  for (let step = script.next(); ; ) {
    if (step.done) return step.value;
    const known = step.value.flatMap((call) => resultOf(call) ?? []);
    if (known.length < step.value.length) return step.value;
    step = script.next(known);
  }
}

function messageOf(content: AssistantMessage["content"]): AssistantMessage {
  return { role: "assistant", model: "offline/rules", content };
}

function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,40}(?=\s|$)|[\s\S]{1,40}/g) ?? [];
}

function notUnderstood(): AgentError {
  return new AgentError({
    code: "not_understood",
    message: `The offline stand-in is not a language model. It understands only: ${understood.join("; ")}.`,
  });
}
