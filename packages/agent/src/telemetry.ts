import { type Attributes, context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import type { Middleware } from "@toolcrib/core";
import { isError } from "@toolcrib/core/internal";
import { messageOf } from "@toolcrib/core/text";
import type { Agent } from "./agent.ts";
import type { Answers } from "./conversation/state.ts";
import { isAgentError } from "./errors.ts";
import type { AgentEvent } from "./messages.ts";
import type { ApproveOptions, ChatOptions, UserContent } from "./options.ts";
import type { Provider, ProviderEvent } from "./provider.ts";

/** The content of spans. */
export interface TelemetryOptions {
  /** Default: the tracer `toolcrib` of the global provider. */
  readonly tracer?: Tracer | undefined;
  /** Record messages, arguments and outputs too: they may hold secrets. Default false. */
  readonly content?: boolean | undefined;
  /** `gen_ai.agent.name`. */
  readonly agentName?: string | undefined;
}

/** Wraps a provider: each request is a client span `chat MODEL` (OpenTelemetry's GenAI conventions). */
export function traceProvider(provider: Provider, options: TelemetryOptions = {}): Provider {
  const { name, model, abilities } = provider;
  return {
    name,
    model,
    ...(abilities && { abilities }),
    async *send(request) {
      const span = start(options, `chat ${model}`, SpanKind.CLIENT, {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": name,
        "gen_ai.request.model": model,
        ...(options.content && { "gen_ai.input.messages": JSON.stringify(request.messages) }),
      });
      for await (const event of within(span, provider.send(request))) {
        if (event.type === "reply") describeReply(span, event, options);
        yield event;
      }
    },
  };
}

/** Creates middleware for `registry.use`: each call is a span `execute_tool NAME`. */
export function traceTools(options: TelemetryOptions = {}): Middleware {
  return async (call, next) => {
    const span = start(options, `execute_tool ${call.name}`, SpanKind.INTERNAL, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": call.name,
      "gen_ai.tool.type": "function",
      ...(call.callId !== undefined && { "gen_ai.tool.call.id": call.callId }),
      ...(options.content && { "gen_ai.tool.call.arguments": JSON.stringify(call.args) }),
    });
    try {
      const outcome = await context.with(trace.setSpan(context.active(), span), () => next());
      if (!outcome.ok) setFailed(span, outcome.error.code, options.content ? outcome.error.message : undefined);
      else if (options.content) span.setAttribute("gen_ai.tool.call.result", outcome.output);
      return outcome;
    } catch (error) {
      fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  };
}

/** Runs `agent.streamChat` in a span `invoke_agent NAME`, the parent of the spans of its requests and calls. */
export function traceTurn(
  agent: Agent,
  message: UserContent,
  { tracer, content, agentName, ...chat }: TelemetryOptions & ChatOptions = {},
): AsyncGenerator<AgentEvent, void> {
  return tracedTurn(agent.streamChat(message, chat), { tracer, content, agentName }, message);
}

/** Does the same of `agent.streamApprove`. */
export function traceApprove(
  agent: Agent,
  answers: Answers,
  { tracer, content, agentName, ...options }: TelemetryOptions & ApproveOptions = {},
): AsyncGenerator<AgentEvent, void> {
  return tracedTurn(agent.streamApprove(answers, options), { tracer, content, agentName });
}

async function* tracedTurn(
  events: AsyncIterable<AgentEvent>,
  { tracer, content, agentName }: TelemetryOptions,
  message?: UserContent,
): AsyncGenerator<AgentEvent, void> {
  const name = agentName === undefined ? "invoke_agent" : `invoke_agent ${agentName}`;
  const span = start({ tracer }, name, SpanKind.INTERNAL, {
    "gen_ai.operation.name": "invoke_agent",
    ...(agentName !== undefined && { "gen_ai.agent.name": agentName }),
    ...(content && message && { "gen_ai.input.messages": JSON.stringify(message) }),
  });
  for await (const event of within(span, events)) {
    if (event.type === "end") {
      span.setAttribute("gen_ai.response.finish_reasons", [event.reason]);
      if (content) span.setAttribute("gen_ai.output.messages", event.text);
    }
    yield event;
  }
}

function start({ tracer }: TelemetryOptions, name: string, kind: SpanKind, attributes: Attributes): Span {
  return (tracer ?? trace.getTracer("toolcrib")).startSpan(name, { kind, attributes });
}

/** Reads events with the span active, and ends it with them. A generator runs in the context of the code that asks for its next value. */
async function* within<T>(span: Span, events: AsyncIterable<T>): AsyncGenerator<T, void> {
  const active = trace.setSpan(context.active(), span);
  const iterator = context.with(active, () => events[Symbol.asyncIterator]());
  try {
    for (;;) {
      const next = await context.with(active, () => iterator.next());
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    fail(span, error);
    throw error;
  } finally {
    try {
      await context.with(active, () => iterator.return?.());
    } finally {
      span.end();
    }
  }
}

function describeReply(
  span: Span,
  reply: Extract<ProviderEvent, { type: "reply" }>,
  { content }: TelemetryOptions,
): void {
  span.setAttribute("gen_ai.response.finish_reasons", [reply.stop]);
  const { usage } = reply;
  if (usage)
    span.setAttributes({
      "gen_ai.usage.input_tokens": usage.inputTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens,
      "gen_ai.usage.cache_read.input_tokens": usage.cacheReadTokens,
      "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteTokens,
    });
  if (content) span.setAttribute("gen_ai.output.messages", JSON.stringify([reply.message]));
}

function fail(span: Span, error: unknown): void {
  const type = isAgentError(error) ? error.code : isError(error) ? error.name : "_OTHER";
  setFailed(span, type, messageOf(error));
}

function setFailed(span: Span, type: string, message: string | undefined): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) });
}
