import { createHash } from "node:crypto";
import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { isAgentError } from "@toolcrib/agent";
import type { TelemetryOptions } from "@toolcrib/agent/telemetry";
import { messageOf } from "@toolcrib/core/text";
import type { RunTracing, TraceCarrier, TracedRun } from "./tracing.ts";

export type { RunTracing } from "./tracing.ts";

/**
 * Traces runs: `start` is a span `start_run AGENT` of the caller's trace, or of a new one, and all that workers do for the run are
 * its children: `invoke_agent AGENT` for each turn, beside it the spans of `traceProvider` and `traceTools`. They are no children of
 * `invoke_agent`, because a worker that dies takes that span with it. A step that is recorded already makes no span.
 */
export function traceRuns({ tracer, content, agentName }: TelemetryOptions = {}): RunTracing {
  const span = (
    name: string,
    { id, agent }: TracedRun,
    kind: SpanKind,
    attributes: Attributes,
    parent?: Context,
  ): Span =>
    (tracer ?? trace.getTracer("toolcrib")).startSpan(
      `${name} ${agentName ?? agent}`,
      { kind, attributes: { "gen_ai.agent.name": agentName ?? agent, "gen_ai.conversation.id": id, ...attributes } },
      parent,
    );
  return {
    async start(run, enqueue) {
      const started = span("start_run", run, SpanKind.PRODUCER, {});
      return ending(started, () =>
        context.with(trace.setSpan(context.active(), started), () => enqueue(carrierOf(started.spanContext()))),
      );
    },
    async turn(run, carrier, work) {
      const parent = trace.setSpanContext(context.active(), contextOf(carrier) ?? contextFromId(run.id));
      const turn = span("invoke_agent", run, SpanKind.INTERNAL, { "gen_ai.operation.name": "invoke_agent" }, parent);
      return ending(turn, async () => {
        const end = await context.with(parent, work);
        turn.setAttribute("toolcrib.run.status", end.status);
        if (end.error) setFailed(turn, end.error.code, end.error.message);
        else if (content && end.answer !== undefined) turn.setAttribute("gen_ai.output.messages", end.answer);
        return end;
      });
    },
  };
}

async function ending<T>(span: Span, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    setFailed(span, isAgentError(error) ? error.code : undefined, messageOf(error));
    throw error;
  } finally {
    span.end();
  }
}

function setFailed(span: Span, code: unknown, message: string): void {
  span.setAttribute("error.type", typeof code === "string" ? code : "_OTHER");
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

function carrierOf(span: SpanContext): TraceCarrier | undefined {
  if (!isSpanContextValid(span)) return undefined;
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, "0");
  const state = span.traceState?.serialize();
  return { traceparent: `00-${span.traceId}-${span.spanId}-${flags}`, ...(state && { tracestate: state }) };
}

const traceparent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function contextOf(carrier: TraceCarrier | undefined): SpanContext | undefined {
  const [, traceId = "", spanId = "", flags = ""] = traceparent.exec(carrier?.traceparent ?? "") ?? [];
  const traceState = carrier?.tracestate === undefined ? undefined : createTraceState(carrier.tracestate);
  const traceFlags = Number.parseInt(flags, 16);
  const remote = { traceId, spanId, traceFlags, isRemote: true, ...(traceState && { traceState }) };
  return isSpanContextValid(remote) ? remote : undefined;
}

/**
 * Makes the trace context from the run's id: the process that started the run records no spans, and the workers still agree about
 * the trace.
 */
function contextFromId(id: string): SpanContext {
  const digest = createHash("sha256").update(id).digest("hex");
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48), traceFlags: TraceFlags.SAMPLED, isRemote: true };
}
