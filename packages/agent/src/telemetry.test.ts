import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import type { ToolRegistry } from "@toolcrib/core";
import { createProgramTools } from "@toolcrib/tools-program";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { registryOf } from "../testing/turns.ts";
import { Agent } from "./agent.ts";
import { AgentError } from "./errors.ts";
import { traceApprove, traceProvider, traceTools, traceTurn } from "./telemetry.ts";
import { ScriptedProvider, type ScriptedReply } from "./testing.ts";

const exporter = new InMemorySpanExporter();

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
});
beforeEach(() => exporter.reset());
afterAll(() => {
  trace.disable();
  context.disable();
});

async function spansOf(replies: ScriptedReply[], content = false): Promise<Record<string, ReadableSpan>> {
  const tools = registryOf({ echo: () => trace.getActiveSpan()?.spanContext().spanId }).use(traceTools({ content }));
  const agent = new Agent(traceProvider(new ScriptedProvider(replies), { content }), { tools, attempts: 1 });
  try {
    for await (const _ of traceTurn(agent, "my secret", { agentName: "helper", content }));
  } catch {
    // The span tells.
  }
  return Object.fromEntries(exporter.getFinishedSpans().map((span) => [span.name, span]));
}

const script: ScriptedReply[] = [
  { calls: [{ id: "a", name: "echo", args: { key: "secret" } }], usage: { inputTokens: 7, outputTokens: 3 } },
  "done",
];

test("a turn, its requests and its calls are spans, the latter two children of the first", async () => {
  const spans = await spansOf(script);
  expect(Object.keys(spans).sort()).toEqual(["chat script", "execute_tool echo", "invoke_agent helper"]);
  const root = spans["invoke_agent helper"]?.spanContext().spanId;
  expect(spans["chat script"]?.parentSpanContext?.spanId).toBe(root);
  expect(spans["execute_tool echo"]?.parentSpanContext?.spanId).toBe(root);
  const chats = exporter.getFinishedSpans().filter((span) => span.name === "chat script");
  expect(chats[0]?.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "scripted",
    "gen_ai.request.model": "script",
    "gen_ai.usage.input_tokens": 7,
    "gen_ai.usage.output_tokens": 3,
    "gen_ai.response.finish_reasons": ["tool-calls"],
  });
  expect(spans["execute_tool echo"]?.attributes).toMatchObject({
    "gen_ai.tool.name": "echo",
    "gen_ai.tool.call.id": "a",
  });
});

test("content is recorded only when asked for", async () => {
  const attributes = (spans: Record<string, ReadableSpan>): string =>
    JSON.stringify(Object.values(spans).map((span) => span.attributes));
  expect(attributes(await spansOf(script))).not.toContain("secret");
  exporter.reset();
  expect(attributes(await spansOf(script, true))).toContain("my secret");
});

test("a failure is recorded on its spans", async () => {
  const spans = await spansOf([new AgentError({ code: "authentication", message: "wrong key" })]);
  for (const name of ["chat script", "invoke_agent helper"]) {
    expect(spans[name]?.status.code).toBe(SpanStatusCode.ERROR);
    expect(spans[name]?.attributes["error.type"]).toBe("authentication");
  }
  exporter.reset();
  const failed = await spansOf([{ calls: [{ name: "absent" }] }, "ok"]);
  expect(failed["execute_tool absent"]?.attributes["error.type"]).toBe("not_found");
});

test("a turn that waits for an answer and the turn that continues it are two spans", async () => {
  const tools = registryOf({ echo: () => "" });
  tools.use(traceTools()).guard(() => ({ ask: "Echo?" }));
  const agent = new Agent(new ScriptedProvider([{ calls: [{ id: "a", name: "echo" }] }, "ok"]), { tools });
  for await (const _ of traceTurn(agent, "go"));
  for await (const _ of traceApprove(agent, { a: true }));
  const spans = exporter.getFinishedSpans();
  expect(spans.map((span) => [span.name, span.attributes["error.type"]])).toEqual([
    ["execute_tool echo", "approval_required"],
    ["invoke_agent", undefined],
    ["execute_tool echo", undefined],
    ["invoke_agent", undefined],
  ]);
  expect(spans[1]?.attributes["gen_ai.response.finish_reasons"]).toEqual(["approval"]);
});

/** A registry with `run_program`, whose writes are asked about. */
function programTools(): ToolRegistry {
  const active = (): string | undefined => trace.getActiveSpan()?.spanContext().spanId;
  const registry = registryOf({ look: active, write: active }).use(traceTools());
  registry.register(...createProgramTools(registry, { tools: ["look", "write"] }));
  return registry.guard(({ name }) => (name === "write" ? { ask: "Write?" } : true));
}

const program: ScriptedReply[] = [
  { calls: [{ id: "p", name: "run_program", args: { code: "return [await tools.look(), await tools.write()]" } }] },
  "done",
];

test("a call of a program is a child of its span, in which the tool runs; one that is repeated from a record is none", async () => {
  const agent = new Agent(new ScriptedProvider(program), { tools: programTools() });
  for await (const _ of traceTurn(agent, "go"));
  const first = exporter
    .getFinishedSpans()
    .map((span) => [span.name, span.attributes["gen_ai.tool.call.id"], span.attributes["error.type"]]);
  expect(first).toEqual([
    ["execute_tool look", "p:1", undefined],
    ["execute_tool write", "p:2", "approval_required"],
    ["execute_tool run_program", "p", "approval_required"],
    ["invoke_agent", undefined, undefined],
  ]);
  const before = exporter.getFinishedSpans();
  exporter.reset();
  for await (const _ of traceApprove(agent, { "p:2": true }));
  const [write, outer, turn, ...more] = exporter.getFinishedSpans();
  expect([write?.name, write?.attributes["gen_ai.tool.call.id"], more]).toEqual(["execute_tool write", "p:2", []]);
  const id = (span: ReadableSpan | undefined): string | undefined => span?.spanContext().spanId;
  expect(before.slice(0, 2).map((span) => span.parentSpanContext?.spanId)).toEqual([id(before[2]), id(before[2])]);
  expect([write?.parentSpanContext?.spanId, outer?.parentSpanContext?.spanId]).toEqual([id(outer), id(turn)]);
  const result = agent.sessionContext.find((message) => message.role === "tool");
  expect(result?.role === "tool" && JSON.parse(result.output)).toEqual([id(before[0]), id(write)]);
});
