import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { Agent, AgentError } from "@toolcrib/agent";
import { traceProvider, traceTools } from "@toolcrib/agent/telemetry";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { afterAll, beforeEach, expect, test } from "vitest";
import { toPlainError } from "./errors.ts";
import { traceRuns } from "./telemetry.ts";
import type { TraceCarrier } from "./tracing.ts";

const exporter = new InMemorySpanExporter();
beforeEach(() => {
  exporter.reset();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
});
const disable = (): void => {
  trace.disable();
  context.disable();
};
afterAll(disable);

const run = { id: "run-1", agent: "review" };
const parentOf = (span: ReadableSpan): string | undefined => span.parentSpanContext?.spanId;
const named = (name: string): ReadableSpan[] => exporter.getFinishedSpans().filter((span) => span.name === name);

function agentOf(): Agent {
  const tools = new ToolRegistry().use(traceTools());
  tools.register(defineTool({ name: "echo", description: "e", parameters: { type: "object" }, execute: () => "ok" }));
  const replies = [{ calls: [{ id: "a", name: "echo", args: {} }] }, "done"];
  return new Agent(traceProvider(new ScriptedProvider(replies)), { tools });
}

async function work(carrier: TraceCarrier | undefined): Promise<void> {
  const kept = carrier && (JSON.parse(JSON.stringify(carrier)) as TraceCarrier);
  await traceRuns().turn(run, kept, async () => ({ status: "done", answer: await agentOf().chat("Look.") }));
}

test("what workers do for a run is in the trace of whoever started it", async () => {
  let carrier: TraceCarrier | undefined;
  await trace.getTracer("caller").startActiveSpan("request", async (request) => {
    const id = await traceRuns().start(run, async (given) => {
      carrier = given;
      return "run-1";
    });
    expect(id).toBe("run-1");
    request.end();
  });
  await work(carrier);
  await work(carrier);
  const spans = exporter.getFinishedSpans();
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
  const [root, ...more] = named("start_run review");
  expect(more).toEqual([]);
  expect(root && parentOf(root)).toBe(named("request")[0]?.spanContext().spanId);
  const names = ["invoke_agent review", "chat script", "execute_tool echo"];
  expect(names.map((name) => named(name).length)).toEqual([2, 4, 2]);
  for (const span of names.flatMap(named)) expect(parentOf(span)).toBe(root?.spanContext().spanId);
  expect(named("invoke_agent review")[0]?.attributes).toEqual({
    "gen_ai.agent.name": "review",
    "gen_ai.conversation.id": "run-1",
    "gen_ai.operation.name": "invoke_agent",
    "toolcrib.run.status": "done",
  });
});

test.each([
  ["was started by a process that records no spans", undefined],
  ["has a carrier that is none", { traceparent: "00-zz" }],
  ["has a carrier of zeros", { traceparent: `00-${"0".repeat(32)}-${"0".repeat(16)}-01` }],
])("workers agree about the trace of a run that %s", async (_, carrier) => {
  await work(carrier);
  await work(carrier);
  const ids = exporter.getFinishedSpans().map((span) => span.spanContext().traceId);
  expect([ids.length, new Set(ids).size]).toEqual([8, 1]);
});

test("nothing is kept with a run where nothing records spans", async () => {
  disable();
  const carriers: (TraceCarrier | undefined)[] = [];
  await traceRuns().start(run, async (carrier) => carriers.push(carrier));
  expect(carriers).toEqual([undefined]);
});

test("a failure is told by the span, and thrown", async () => {
  const error = new AgentError({ code: "server", message: "down" });
  await expect(traceRuns().start(run, () => Promise.reject(error))).rejects.toBe(error);
  const tracing = traceRuns({ agentName: "other" });
  await expect(tracing.turn(run, undefined, () => Promise.reject(error))).rejects.toBe(error);
  const end = { status: "failed", error: toPlainError(error) };
  expect(await tracing.turn(run, undefined, async () => end)).toBe(end);
  const failed = { status: { message: "down" }, attributes: { "error.type": "server" } };
  expect(named("start_run review")).toMatchObject([failed]);
  expect(named("invoke_agent other")).toMatchObject([failed, failed]);
});

test("an answer is told by the span where content is asked for", async () => {
  for (const content of [false, true]) {
    await traceRuns({ content }).turn(run, undefined, async () => ({ status: "done", answer: "all is well" }));
  }
  const answers = named("invoke_agent review").map(({ attributes }) => attributes["gen_ai.output.messages"]);
  expect(answers).toEqual([undefined, "all is well"]);
});
