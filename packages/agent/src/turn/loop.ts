import type { ToolLabels } from "@toolcrib/core";
import { callsOf, type NotRunReason, openCalls, textOf, userMessage } from "../conversation/conversation.ts";
import type { History } from "../conversation/history.ts";
import { AgentError, isAgentError } from "../errors.ts";
import type { AgentEvent, EndReason, StopReason } from "../messages.ts";
import { type ChatOptions, checkChatOptions, type UserContent } from "../options.ts";
import { RequestClock } from "../requestClock.ts";
import { isUserBlock } from "../session/session.ts";
import { compact } from "./compact.ts";
import { busyError, type LoopState } from "./loopState.ts";
import { requestReply } from "./requestReply.ts";
import { runSideBySide, type ToolRun, type ToolRunner, takeSideBySide } from "./toolCalls.ts";

/**
 * Runs one turn: asks the model and runs its calls until it answers or a limit is reached. Yields what happens, `end` last;
 * throws an AgentError on failure and abort. However it ends, every call in history has one result.
 */
export async function* runTurn(
  state: LoopState,
  content: UserContent,
  options: ChatOptions = {},
): AsyncGenerator<AgentEvent, void> {
  if (state.running) throw busyError();
  refuseMessage(content);
  checkChatOptions(options);
  const { history, limits, provider } = state;
  const tools = options.tools ?? state.tools;
  const clock = new RequestClock(options.signal, limits);
  const run = toolRun(state, tools, clock, options.labels);
  let text = "";
  let paused = false;
  state.running = true;
  try {
    await history.add(userMessage(content));
    for (let step = 1; ; step += 1) {
      clock.throwIfAborted(text);
      if (state.steering.length > 0) yield* deliverSteering(state);
      if (state.compaction) yield* compact(state, state.compaction, clock);
      yield { type: "step-start", step };
      const content = {
        systemPrompt: state.systemPrompt,
        messages: history.messages,
        tools: tools.getEnabledSchemas(),
        ...(step === 1 && options.toolChoice ? { toolChoice: options.toolChoice } : {}),
      };
      const request = { provider, content, clock, limits, callIds: history.callIds };
      const { message: reply, stop, usage, detail, failed } = yield* requestReply(request);
      await history.addReply(reply, usage);
      text = paused ? text + textOf(reply) : textOf(reply);
      paused = stop === "pause";
      if (usage) yield { type: "usage", usage, total: history.usage };
      const calls = callsOf(reply);
      const reason = endOf(stop, calls.length > 0, step >= limits.maxSteps, state.steering.length > 0);
      if (reason) {
        yield* refuseCalls(history, reason === "step-limit" ? "step limit" : "cut off");
        const said = reason === stop && reason !== "stop" && detail;
        yield { type: "end", reason, text, ...(said && { detail: said }), ...(failed && { failed }) };
        return;
      }
      for (const waiting = [...calls]; waiting.length > 0; clock.throwIfAborted(text)) {
        yield* runSideBySide(takeSideBySide(waiting, tools), run);
      }
      if (calls.length > 0 && options.stopWhen?.({ step, reply, messages: history.messages, usage: history.usage })) {
        yield { type: "end", reason: "stop", text };
        return;
      }
    }
  } catch (error) {
    if (isRefused(error)) await history.withdrawUnanswered();
    throw error;
  } finally {
    clock.abort();
    clock.dispose();
    try {
      await history.closeOpenCalls("aborted");
      await history.recorder?.turnEnded();
    } finally {
      state.running = false;
    }
  }
}

/** Services refuse a message without content, and every later request that holds it. */
function refuseMessage(content: UserContent): void {
  const refuse = (message: string): AgentError => new AgentError({ code: "invalid_request", message });
  if (typeof content !== "string" && !(Array.isArray(content) && content.every(isUserBlock)))
    throw refuse("A message is text, or a list of text and image blocks.");
  const blocks = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
  if (blocks.every((block) => block.type === "text" && block.text.trim() === ""))
    throw refuse("The message is empty; say what to do.");
}

/** Why the turn ends after this reply; undefined when it goes on. */
function endOf(stop: StopReason, hasCalls: boolean, lastStep: boolean, steered: boolean): EndReason | undefined {
  switch (stop) {
    case "stop":
    case "tool-calls":
      if (!hasCalls && (lastStep || !steered)) return "stop";
      return lastStep ? "step-limit" : undefined;
    case "pause":
      return lastStep ? "step-limit" : undefined;
    default:
      return stop;
  }
}

async function* deliverSteering({ steering, history }: LoopState): AsyncGenerator<AgentEvent, void> {
  for (let text = steering.shift(); text !== undefined; text = steering.shift()) {
    await history.add(userMessage(text));
    yield { type: "steering", text };
  }
}

async function* refuseCalls(history: History, reason: NotRunReason): AsyncGenerator<AgentEvent, void> {
  const calls = openCalls(history.messages);
  const results = await history.closeOpenCalls(reason);
  for (const [index, { id, name, args }] of calls.entries()) {
    yield { type: "tool-call", id, name, args };
    yield { type: "tool-result", id, name, output: results[index]?.output ?? "", isError: true };
  }
}

function toolRun(
  { history, limits }: LoopState,
  tools: ToolRunner,
  clock: RequestClock,
  labels: ToolLabels | undefined,
): ToolRun {
  return {
    tools,
    labels,
    maxToolResultBytes: limits.maxToolResultBytes,
    get signal() {
      return clock.signal;
    },
    abort: () => clock.abort(),
    starting: (calls) => history.recorder?.toolStart(calls.map((call) => call.id)),
    finished: (result) => history.recorder?.message(result),
    append: (result) => history.append(result),
  };
}

/** Whether the service would refuse the message again in every later request. */
function isRefused(error: unknown): boolean {
  return isAgentError(error) && (error.code === "invalid_request" || error.code === "not_understood");
}
