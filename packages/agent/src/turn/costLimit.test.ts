import { ToolRegistry } from "@toolcrib/core";
import { expect, test } from "vitest";
import { anyTool, outputs } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import { noUsage } from "../conversation/usage.ts";
import type { Usage } from "../messages.ts";
import type { Provider, ProviderEvent } from "../provider.ts";
import { createCostLimit } from "./costLimit.ts";
import { anyOf } from "./stopConditions.ts";

const { cost: _, ...tokens } = noUsage;

const look = anyTool("look", () => "seen");

/** A model that goes on calling a tool; each reply has used what `usage` says. */
function endless(usage: Usage | undefined, model = "gpt-6-luna", name = "openai"): Provider {
  return {
    name,
    model,
    async *send({ messages }): AsyncGenerator<ProviderEvent> {
      const call = { type: "tool-call", id: `call_${messages.length}`, name: "look", args: {} } as const;
      yield {
        type: "reply",
        message: { role: "assistant", content: [call] },
        stop: "tool-calls",
        ...(usage && { usage }),
      };
    },
  };
}

async function turn(provider: Provider, dollars: number) {
  const limit = createCostLimit(dollars, provider);
  const agent = new Agent(provider, { tools: new ToolRegistry([look]), maxSteps: 6 });
  let steps = 0;
  let reason = "";
  for await (const event of agent.streamChat("go", { stopWhen: limit })) {
    if (event.type === "step-start") steps = event.step;
    if (event.type === "end") ({ reason } = event);
  }
  return { steps, reason, reached: limit.reached };
}

test.each([
  ["the cost that the service or the price gives", endless({ ...noUsage, cost: 0.4 }), 1, 3, "cost-limit"],
  [
    "cached tokens at their own rate, where the service gives no cost",
    endless({ ...tokens, inputTokens: 1e6, cacheReadTokens: 9e5 }),
    0.07,
    2,
    "cost-limit",
  ],
  ["a service that charges nothing", endless({ ...noUsage, cost: 0 }, "m", "x"), 1, 6, undefined],
  ["a reply of a model without a price: unknown", endless({ ...tokens, inputTokens: 1 }, "new"), 1, 1, "cost-unknown"],
  ["no usage at all: unknown", endless(undefined), 1, 1, "cost-unknown"],
  ["the stand-in: nothing", endless(undefined, "rules", "offline"), 1, 6, undefined],
])("a turn ends by what its replies have cost: %s", async (_what, provider, dollars, steps, reached) => {
  expect(await turn(provider, dollars)).toEqual({ steps, reason: reached ? "stop" : "step-limit", reached });
});

test("holds in a turn without events too, beside another condition, and its guard denies the calls of the reply that reached it", async () => {
  const provider = endless({ ...noUsage, cost: 0.4 });
  const limit = createCostLimit(1, provider);
  const agent = new Agent(provider, { tools: new ToolRegistry([look]).guard(limit.guard), maxSteps: 6 });
  await agent.chat("go", { stopWhen: anyOf(() => false, limit) }).catch(() => undefined);
  expect(limit.reached).toBe("cost-limit");
  expect(outputs(agent)).toEqual([
    "seen",
    "seen",
    "Error executing look: Permission denied: the limit of costs is reached",
  ]);
});

test("a negative cost gives nothing back", async () => {
  const provider = endless({ ...noUsage, cost: 0.4 });
  const limit = createCostLimit(1, provider);
  const usage = { ...noUsage, cost: -100 };
  limit.see({ type: "usage", usage, total: usage });
  const agent = new Agent(provider, { tools: new ToolRegistry([look]), maxSteps: 6 });
  await agent.chat("go", { stopWhen: limit }).catch(() => undefined);
  expect(limit.reached).toBe("cost-limit");
});

test.each([Number.NaN, 0, -1, Number.POSITIVE_INFINITY, undefined, "5"])("%s dollars are refused", (dollars) => {
  expect(() => createCostLimit(dollars as number, endless(undefined))).toThrow("dollars must be a number above 0");
});
