import Anthropic from "@anthropic-ai/sdk";
import type { BetaMessage, MessageCreateParams } from "@anthropic-ai/sdk/resources/beta";
import { expect, test } from "vitest";
import { createScenario, pixel, serveScript, shownAtFirst } from "../testing/scenario.ts";
import { toAnthropicTools } from "./anthropic.ts";

type Call = [name: string, input: unknown];

const reply = (calls: readonly Call[]): Partial<BetaMessage> => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-haiku-5-5",
  usage: { input_tokens: 1, output_tokens: 1 } as BetaMessage["usage"],
  stop_reason: calls.length ? "tool_use" : "end_turn",
  content: calls.length
    ? calls.map(([name, input], at) => ({ type: "tool_use", id: `${name}_${at}`, name, input }))
    : [{ type: "text", text: "done", citations: null }],
});

const serve = (steps: ReadonlyArray<() => readonly Call[]>) =>
  serveScript<MessageCreateParams>([...steps, () => []].map((step) => () => reply(step())));

const params = { model: "claude-haiku-5-5", max_tokens: 100, messages: [{ role: "user" as const, content: "go" }] };
const client = (baseURL: string): Anthropic => new Anthropic({ apiKey: "none", baseURL, maxRetries: 0 });
const results = (body: MessageCreateParams | undefined): unknown => body?.messages.at(-1)?.content;

test("runs a conversation: repaired arguments, a failure with is_error, a tool disabled in mid-run refused", async () => {
  const { registry } = createScenario();
  await using server = await serve([
    () => [
      ["add", { a: "2", b: 3 }],
      ["fail", {}],
    ],
    () => {
      registry.disable("add");
      return [["add", { a: 1, b: 1 }]];
    },
  ]);
  const runner = client(server.url).beta.messages.toolRunner({ ...params, tools: toAnthropicTools(registry) });
  expect((await runner).content).toMatchObject([{ type: "text", text: "done" }]);
  const [first, second, third] = server.requests;
  expect(first?.tools).toMatchObject(shownAtFirst.map((name) => ({ name, input_schema: { type: "object" } })));
  expect(results(second)).toEqual([
    { type: "tool_result", tool_use_id: "add_0", content: "5" },
    {
      type: "tool_result",
      tool_use_id: "fail_1",
      content: "Error executing fail: the disk is full",
      is_error: true,
    },
  ]);
  expect(results(third)).toEqual([
    { type: "tool_result", tool_use_id: "add_0", content: "Tool not available: add", is_error: true },
  ]);
});

test("hands an image on as a block", async () => {
  const { registry } = createScenario();
  await using server = await serve([() => [["picture", {}]]]);
  await client(server.url)
    .beta.messages.toolRunner({ ...params, tools: toAnthropicTools(registry) })
    .runUntilDone();
  const source = { type: "base64", data: pixel, media_type: "image/png" };
  expect(results(server.requests[1])).toMatchObject([
    {
      content: [
        { type: "text", text: "a dot" },
        { type: "image", source },
      ],
    },
  ]);
});

test("ends a running tool when the caller aborts", async () => {
  const { registry, held, released } = createScenario();
  const abort = new AbortController();
  await using server = await serve([() => [["hold", {}]]]);
  const runner = client(server.url).beta.messages.toolRunner(
    { ...params, tools: toAnthropicTools(registry) },
    { signal: abort.signal },
  );
  const running = runner.runUntilDone();
  await held;
  abort.abort(new Error("enough"));
  await expect(running).rejects.toThrow();
  expect(await released).toMatchObject({ message: "enough" });
});

test("answers a call that the registry's policy denies as an error", async () => {
  const { registry } = createScenario();
  registry.guard(({ tool }) => tool.readOnly === true || "only reading is allowed");
  await using server = await serve([
    () => [
      ["picture", {}],
      ["add", { a: 1, b: 1 }],
    ],
  ]);
  const tools = toAnthropicTools(registry);
  await client(server.url)
    .beta.messages.toolRunner({ ...params, tools })
    .runUntilDone();
  expect(results(server.requests[1])).toMatchObject([
    { content: "Error executing picture: Permission denied: only reading is allowed", is_error: true },
    { content: "2" },
  ]);
});

test.each([
  [true, 1, { type: "continue", previous_message_id: "msg_1" }],
  [false, 3, undefined],
])("with the runner's thread %s, a later request holds as much as the page says", async (thread, count, sent) => {
  const { registry } = createScenario();
  await using server = await serve([() => [["add", { a: 1, b: 1 }]]]);
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
  const cut = { ...reply([["add", { a: 1, b: 1 }]]), stop_reason: "max_tokens" };
  await using server = await serveScript<MessageCreateParams>([() => cut]);
  const runner = client(server.url).beta.messages.toolRunner({ ...params, tools: toAnthropicTools(registry) });
  expect([(await runner).stop_reason, seen, server.requests.length]).toEqual(["max_tokens", [], 1]);
});
