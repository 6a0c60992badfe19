import type { Message } from "@anthropic-ai/sdk/resources/messages";
import type { Response } from "openai/resources/responses/responses";
import { expect, test } from "vitest";
import type { Usage } from "../../messages.ts";
import type { ReplyEvent } from "../../provider.ts";
import { AnthropicReply, anthropicEvents } from "../anthropic/reply.ts";
import { ResponsesReply, responsesEvents } from "../openai/reply.ts";
import billed from "../shared/billedUsages.json" with { type: "json" };
import { costOf, priced } from "./cost.ts";

const usage: Usage = {
  inputTokens: 1_000_000,
  outputTokens: 1_000_000,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

test("a price or a rate that is not known makes the cost unknown, never zero", () => {
  expect(costOf(usage, undefined)).toBeUndefined();
  expect(costOf({ ...usage, cacheReadTokens: 1 }, { input: 1, output: 5 })).toBeUndefined();
  const reply = {
    type: "reply",
    stop: "stop",
    usage,
    message: { role: "assistant", content: [], model: "openai/unheard-of" },
  } as const;
  expect(priced(reply, undefined).usage).toEqual(usage);
  expect(priced(reply, { input: 1, output: 1 }).usage?.cost).toBe(2);
});

test("the cost that the service reports is kept", () => {
  const own = { ...usage, cost: 0.5 };
  const reply = { type: "reply", stop: "stop", usage: own, message: { role: "assistant", content: [] } } as const;
  expect(priced(reply, { input: 1, output: 1 }).usage?.cost).toBe(0.5);
});

/** The reply whose body says this of its usage. */
function replyWith(service: string, model: string, wireUsage: object, more: object = {}): ReplyEvent {
  const described = { name: service, label: service, model, baseURL: undefined, keyVariable: undefined, secrets: [] };
  const author = `${service}/${model}`;
  if (service === "anthropic") {
    const content = [{ type: "text", text: "Yes.", citations: null }];
    const reply = new AnthropicReply(described, author);
    const message = { role: "assistant", content, stop_reason: "end_turn", usage: wireUsage } as unknown as Message;
    for (const event of anthropicEvents(message)) reply.push(event);
    return reply.end();
  }
  const reply = new ResponsesReply(described, author);
  const output = [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Yes." }] }];
  const response = { status: "completed", output, usage: wireUsage, ...more } as unknown as Response;
  for (const event of responsesEvents(response)) reply.push(event);
  return reply.end();
}

test.each(billed.bills)("$model bills $dollars dollars for $usage", ({ service, model, usage: wireUsage, dollars }) => {
  const cost = priced(replyWith(service, model, wireUsage), undefined).usage?.cost;
  expect(cost).toBeCloseTo(Number(dollars), 12);
});

test("there are thirty such bills", () => expect(billed.bills).toHaveLength(30));

test.each([
  ["anthropic", "claude-opus-5-5", { speed: "fast", inference_geo: "us" }, {}, 2.2],
  ["anthropic", "claude-opus-5-5", { speed: "standard", inference_geo: "global" }, {}, 1],
  ["openai", "gpt-6-luna", {}, { service_tier: "priority" }, 2],
  ["openai", "gpt-6-luna", {}, { service_tier: "flex" }, 0.5],
  ["openai", "gpt-6-luna", {}, { service_tier: "default" }, 1],
] as const)(
  "a reply of %s's %s that was served as %o %o says costs %d times as much",
  (service, model, more, body, times) => {
    const bill = billed.bills.find((one) => one.model === model);
    const reply = replyWith(service, model, { ...bill?.usage, ...more }, body);
    expect(priced(reply, undefined).usage?.cost).toBeCloseTo(Number(bill?.dollars) * times, 12);
  },
);
