import Anthropic from "@anthropic-ai/sdk";
import type { BetaMessage, MessageCreateParams } from "@anthropic-ai/sdk/resources/beta";
import { expect, test } from "vitest";
import { createScenario, serveScript } from "../testing/scenario.ts";
import { toAnthropicTools } from "./anthropic.ts";

const reply = (content: object): Partial<BetaMessage> => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-haiku-5-5",
  usage: { input_tokens: 1, output_tokens: 1 } as BetaMessage["usage"],
  content: [content as BetaMessage["content"][number]],
});
const call = reply({ type: "tool_use", id: "add_0", name: "add", input: { a: 1, b: 1 } });
const end = reply({ type: "text", text: "done", citations: null });

const params = { model: "claude-haiku-5-5", max_tokens: 100, messages: [{ role: "user" as const, content: "go" }] };
const client = (baseURL: string): Anthropic => new Anthropic({ apiKey: "none", baseURL, maxRetries: 0 });

test.each([
  [true, 1, { type: "continue", previous_message_id: "msg_1" }],
  [false, 3, undefined],
])("with the runner's thread %s, a later request holds as much as the page says", async (thread, count, sent) => {
  const { registry } = createScenario();
  await using server = await serveScript<MessageCreateParams>([
    () => ({ ...call, stop_reason: "tool_use" }),
    () => ({ ...end, stop_reason: "end_turn" }),
  ]);
  const tools = toAnthropicTools(registry);
  await client(server.url)
    .beta.messages.toolRunner({ ...params, ...(thread ? {} : { thread }), tools })
    .runUntilDone();
  const second = server.requests[1];
  expect([second?.messages.length, second && "thread" in second ? second.thread : undefined]).toEqual([count, sent]);
});

test("ends without an error at max_tokens, and runs not even a complete call of that reply", async () => {
  const { registry } = createScenario();
  const seen: unknown[] = [];
  registry.use((call, next) => {
    seen.push(call.name);
    return next();
  });
  await using server = await serveScript<MessageCreateParams>([() => ({ ...call, stop_reason: "max_tokens" })]);
  const runner = client(server.url).beta.messages.toolRunner({ ...params, tools: toAnthropicTools(registry) });
  expect([(await runner).stop_reason, seen, server.requests.length]).toEqual(["max_tokens", [], 1]);
});
