import { answerWith, jsonOf, sharedWireServer, sse, streamOf } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { kept, messagesReply, responsesReply, service } from "../../testing/replies.ts";
import { registryOf } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import { toAnthropicTurn } from "./anthropic/mapping.ts";
import { AnthropicReply } from "./anthropic/reply.ts";
import { OpenAICompatibleProvider } from "./chat/openaiCompatible.ts";
import { toResponsesItems } from "./openai/mapping.ts";

const server = await sharedWireServer();

describe.each([true, false])("over chat completions (streamed: %s)", (stream) => {
  const google = { google: { thought_signature: "c2ln" } };
  const ofMessage = { vertex: { thought_signature: "bXNn" } };
  const looked = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" }, extra_content: google };
  const odd = { ...looked, index: 0, unheard_of: 1 };

  /** A call with fields of its own, in a message with such fields. */
  const script = (): void => {
    const message = { role: "assistant", content: "Looking.", extra_content: ofMessage, tool_calls: [odd], other: 2 };
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      data: { id: "c", choices: [{ index: 0, delta, finish_reason }] },
    });
    const { tool_calls, ...said } = message;
    const events = [chunk(said), chunk({ tool_calls }), chunk({}, "tool_calls")];
    const whole = { id: "c", choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
    server.script(stream ? streamOf(sse(events)) : jsonOf(whole), answerWith({ text: "Seen." }));
  };
  const sentBack = (): Record<string, unknown> =>
    (server.requests.at(-1)?.body.messages as Record<string, unknown>[] | undefined)?.find(
      ({ role }) => role === "assistant",
    ) ?? {};
  const providerOf = (model = "m", compat = {}) =>
    new OpenAICompatibleProvider({ baseURL: `${server.url}/v1`, model, stream, compat });
  const tools = registryOf({ look: () => "blue" });

  test("extra_content of a call and of a message goes back to the model that wrote it, and nothing else does", async () => {
    script();
    const agent = new Agent(providerOf(), { tools, attempts: 1 });
    await agent.chat("Which?").catch(() => undefined);
    // A strict service takes no such field.
    server.takeProblems();
    expect(sentBack()).toEqual({
      role: "assistant",
      content: "Looking.",
      extra_content: ofMessage,
      tool_calls: [{ ...looked }],
    });
    const session = { format: "toolcrib-session", version: 1, savedAt: "", systemPrompt: "" } as const;
    const other = await Agent.resume(providerOf("n"), { ...session, messages: agent.sessionContext }, { tools });
    server.script(answerWith({ text: "Seen." }), answerWith({ text: "Seen." }));
    await other.chat("And now?");
    expect(JSON.stringify(server.requests.at(-1)?.body)).not.toContain("extra_content");
  });

  test("compat names the fields", async () => {
    script();
    await new Agent(providerOf("m", { carriedFields: ["other", "unheard_of"] }), { tools, attempts: 1 })
      .chat("Which?")
      .catch(() => undefined);
    server.takeProblems();
    expect(sentBack()).toMatchObject({ other: 2, tool_calls: [{ unheard_of: 1 }] });
    expect(sentBack()).not.toHaveProperty("extra_content");
  });
});

test("over Messages thinking without a signature goes back to models that sign nothing, and not to a Claude", () => {
  const replyOf = (model: string) => {
    const reply = new AnthropicReply({ ...service, model }, `anthropic/${model}`);
    const events = [
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm." } },
      { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "a", name: "look", input: {} } },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} },
    ];
    for (const event of events) reply.push(event as never);
    return toAnthropicTurn(kept(reply.end()), true).content;
  };
  expect(replyOf("deepseek-v4")).toMatchObject([{ type: "thinking", thinking: "Hm." }, { type: "tool_use" }]);
  expect(replyOf("kimi-k3")).toMatchObject([{ type: "thinking", thinking: "Hm." }, { type: "tool_use" }]);
  expect(replyOf("claude-sonnet-5-5")).toMatchObject([{ type: "tool_use" }]);
});

test.each(["null", "", "  ", '{"a": 1}'])("arguments %j go back as an object on every wire", (written) => {
  const call = { type: "function_call", id: "fc", call_id: "c", name: "look", arguments: written, status: "completed" };
  const [item] = toResponsesItems(kept(responsesReply([call]).reply), "openai/m") as { arguments?: string }[];
  const args = written.startsWith("{") ? { a: 1 } : {};
  expect(JSON.parse(item?.arguments ?? "")).toEqual(args);
  const use = { type: "tool_use", id: "a", name: "look", input: {} };
  const message = kept(messagesReply([[use, { type: "input_json_delta", partial_json: written }]], "tool_use"));
  expect(toAnthropicTurn(message, true).content).toMatchObject([{ input: args }]);
});
