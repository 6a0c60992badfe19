import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  Agent,
  AgentError,
  type AgentErrorCode,
  type AgentOptions,
  createSaveSessionContextTool,
  isAgentError,
  type ProviderEvent,
  type StopReason,
} from "@toolcrib/agent";
import { assertConversation, ScriptedProvider, type ScriptedReply } from "@toolcrib/agent/testing";
import { defineTool, type ToolContext, ToolRegistry } from "@toolcrib/core";
import { randomOf } from "@toolcrib/testing/randomOf";
import { afterAll, expect, test } from "vitest";
import { suiteSeed } from "../random.ts";

const folder = mkdtempSync(join(tmpdir(), "loop-model-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const seeds = Number(process.env.TOOLCRIB_ROUNDS ?? 1);
const operations = process.env.TOOLCRIB_ROUNDS === undefined ? 300 : 1000;

const ids = ["", "a", "a", "b", "functions.x:0", "x".repeat(80), "é", "call_1", "\ud800"];
const names = ["look", "look", "change", "fail", "deaf", "functions.look", "absent", "", "a b", "\udc00"];
const values: unknown[] = [
  undefined,
  1,
  "\ud800",
  null,
  [],
  { deep: { er: [1] } },
  JSON.parse('{"__proto__":1}'),
  () => 1,
];
const stops: StopReason[] = [
  "stop",
  "tool-calls",
  "token-limit",
  "context-limit",
  "refusal",
  "content-filter",
  "pause",
];
const codes: AgentErrorCode[] = [
  "rate_limit",
  "server",
  "network",
  "timeout",
  "bad_reply",
  "invalid_request",
  "authentication",
];

function createModel(random: () => number) {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const calls = () =>
    Array.from({ length: Math.floor(random() * 5) }, () => ({
      id: pick(ids),
      name: pick(names),
      args: { value: pick(values) },
      ...(random() < 0.2 ? { malformed: "Unexpected end" } : {}),
    }));
  const reply = (): ScriptedReply => {
    const kind = random();
    if (kind < 0.15)
      return new AgentError({ code: pick(codes), message: "fault", retryable: random() < 0.8, retryAfterMs: 0 });
    if (kind < 0.2) return new TypeError("bug in the provider");
    if (kind < 0.25) return [{ type: "text-delta", text: "half" }];
    if (kind < 0.3) return () => broken();
    if (kind < 0.35) return () => silent();
    return {
      text: pick(["", "text", "\ud800 text"]),
      reasoning: pick(["", "hm"]),
      calls: calls(),
      ...(random() < 0.3 && { stop: pick(stops) }),
      usage: { inputTokens: Math.floor(random() * 1000) },
    };
  };
  return { pick, reply };
}

async function* broken(): AsyncGenerator<ProviderEvent, void> {
  yield { type: "text-delta", text: "half" };
  throw new AgentError({ code: "network", message: "dropped", retryable: true });
}

async function* silent(): AsyncGenerator<ProviderEvent, void> {
  yield { type: "activity" };
  await new Promise(() => {});
}

function createTools(random: () => number, context: ToolContext): ToolRegistry {
  const tools = new ToolRegistry([createSaveSessionContextTool(context)]);
  const add = (name: string, readOnly: boolean, execute: (args: Record<string, unknown>) => unknown): void =>
    tools.register(
      defineTool({ name, description: name, readOnly, timeoutMs: 5, parameters: { type: "object" }, execute }),
    );
  add("look", true, () => (random() < 0.5 ? "seen" : sleep(1).then(() => "seen later \ud800")));
  add("change", false, (args) => {
    args.value = "changed";
    return "done";
  });
  add("fail", true, () => Promise.reject(random() < 0.5 ? null : new Error("failed")));
  add("deaf", false, () => new Promise(() => {}));
  tools.guard(
    ({ name }) =>
      name === "save_session_context" || random() < 0.8 || (random() < 0.8 ? { ask: "May it run?" } : "not now"),
  );
  return tools;
}

function problemsOf(messages: Agent["sessionContext"]): string[] {
  try {
    assertConversation(messages);
    return [];
  } catch (error) {
    return [String(error)];
  }
}

async function operate(agent: Agent, random: () => number): Promise<void> {
  const controller = new AbortController();
  const stopAfter = random() < 0.4 ? Math.floor(random() * 12) : Number.POSITIVE_INFINITY;
  const leave = random() < 0.5;
  if (random() < 0.1) agent.steer("by the way");
  if (random() < 0.03) agent.clearContext();
  if (random() < 0.1) agent[random() < 0.5 ? "disableTool" : "enableTool"]("look");
  let events = 0;
  const { signal } = controller;
  const asked = agent.pending.filter(() => random() < 0.7);
  const answers = Object.fromEntries(asked.map(({ callId }) => [callId, random() < 0.6 || "no"]));
  const isAnswered = agent.pending.length > 0 && random() < 0.8;
  const approve = random() < 0.2 ? () => random() < 0.5 : undefined;
  const turn = isAnswered
    ? agent.streamApprove(answers, { signal, approve })
    : agent.streamChat("go", { signal, approve });
  try {
    for await (const event of turn) {
      if (event.type === "tool-progress") continue;
      if (random() < 0.05) await expect(agent.chat("second")).rejects.toMatchObject({ code: "busy" });
      events += 1;
      if (events > stopAfter && leave) break;
      if (events > stopAfter) controller.abort();
    }
  } catch (error) {
    if (!isAgentError(error)) throw error;
  }
}

test(`${operations} random turns with ${seeds} seeds: whatever fails, the conversation stays valid and the agent works`, {
  timeout: 0,
}, async () => {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const random = randomOf(suiteSeed + seed);
    const { reply } = createModel(random);
    const problems: string[] = [];
    const next = (): ScriptedReply => (request) => {
      problems.push(...problemsOf(request.messages));
      if (JSON.stringify(request.messages).includes("waiting for approval")) problems.push("a call waits in a request");
      return reply();
    };
    const provider = new ScriptedProvider(Array.from({ length: operations * 60 }, next));
    const file = join(folder, `${seed}.json`);
    const options: AgentOptions = {
      ...{ maxSteps: 8, baseDelayMs: 0.1, idleTimeoutMs: 5, requestTimeoutMs: 5, sessionContextFilePath: file },
      tools: (context) => createTools(random, context),
    };
    let agent = new Agent(provider, options);
    for (let operation = 0; operation < operations; operation += 1) {
      await operate(agent, random);
      problems.push(...problemsOf(agent.sessionContext));
      expect(problems, `seed ${seed}, operation ${operation}`).toEqual([]);
      provider.requests.length = 0;
      if (operation % 100 !== 99) continue;
      const { sessionContext, pending, usage } = agent;
      expect(await agent.saveContext("restart")).toContain("Saved");
      agent = await Agent.resume(provider, file, options);
      expect([agent.sessionContext, agent.pending, agent.usage]).toEqual([sessionContext, pending, usage]);
    }
    const calm = await Agent.resume(
      new ScriptedProvider(["still here"]),
      JSON.parse(
        JSON.stringify({
          format: "toolcrib-session",
          version: 1,
          savedAt: "",
          systemPrompt: "",
          messages: agent.sessionContext,
        }),
      ),
    );
    expect(await calm.chat("there?")).toBe("still here");
  }
});
