import type { Provider } from "@toolcrib/agent";
import { AnthropicProvider } from "@toolcrib/agent/anthropic";
import { OpenAIProvider } from "@toolcrib/agent/openai";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { answerWith, hasPostgres, routeServices, sharedWireServer } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { newSchema, shareServer, thrown } from "../../fixtures/runs.ts";
import type { DurableRuns } from "../run.ts";

const { work } = shareServer();
const wire = await sharedWireServer();
routeServices(wire);

const apiKey = "sk-durable-0123456789";
const call = (name: string) => answerWith({ text: "Looking.", calls: [{ name, args: '{"text": "a"}' }] });
const answer = (text: string) => answerWith({ text });

function toolsOf(...names: string[]): ToolRegistry {
  const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
  const tools = names.map((name) =>
    defineTool({ name, description: `Does ${name}.`, parameters, execute: ({ text }) => `${name} ${text}` }),
  );
  return new ToolRegistry(tools).guard(({ name }) => (name === "charge" ? { ask: "Charge?" } : true));
}

const services: readonly { title: string; isEnforced: boolean; provider(): Provider }[] = [
  { title: "Anthropic", isEnforced: true, provider: () => new AnthropicProvider({ apiKey }) },
  {
    title: "Anthropic with an older account",
    isEnforced: false,
    provider: () => new AnthropicProvider({ apiKey, model: "claude-opus-5-5" }),
  },
  { title: "OpenAI", isEnforced: true, provider: () => new OpenAIProvider({ apiKey }) },
];

describe.skipIf(!hasPostgres).each(services)("at $title", ({ isEnforced, provider }) => {
  beforeEach(() => {
    wire.account.isEnforced = isEnforced;
  });

  test("a run that waits, is answered, and goes on at a worker with other words and tools is refused nothing and loses no thinking", async () => {
    const schema = newSchema();
    const begin = (tools: ToolRegistry, systemPrompt = "Be brief."): Promise<DurableRuns> =>
      work({ provider: provider(), tools, systemPrompt }, { schema });
    const first = await begin(toolsOf("look", "charge"));
    wire.script(call("look"), call("charge"));
    const id = await first.start("helper", "Charge it.");
    const asked = await thrown(first.result(id));
    expect(asked).toMatchObject({ code: "ended", reason: "approval" });
    const { pending } = asked as { pending: readonly { callId: string }[] };
    await first.close();

    const second = await begin(toolsOf("look", "charge"));
    wire.script(call("look"), answer("Charged."));
    await second.approve(id, Object.fromEntries(pending.map(({ callId }) => [callId, true])));
    expect(await second.result(id)).toContain("Charged.");
    await second.close();

    const third = await begin(toolsOf("look", "count"), "Be polite.");
    wire.script(call("count"), answer("Counted."));
    await third.send(id, "And count it.");
    expect(await third.result(id)).toContain("Counted.");
    expect(wire.requests.at(-1)?.text).toContain("Be polite.");
    expect(wire.takeProblems()).toEqual([]);
  });
});
