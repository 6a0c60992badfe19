import { type ChatTool, toAnthropicTool, toOpenAIResponsesTool } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import type { AssistantMessage, Message } from "../messages.ts";
import { joinTurns, toAnthropicToolChoice, toAnthropicTurn } from "./anthropic/mapping.ts";
import { defaultCompat, openRouterCompat } from "./chat/compat.ts";
import { toChatMessage, toChatToolChoice, toChatTools } from "./chat/mapping.ts";
import { toResponsesItems } from "./openai/mapping.ts";

const parameters = { type: "object", properties: { path: { type: "string" } } };
const tool: ChatTool = {
  type: "function",
  function: { name: "read_file", description: "Read.", parameters, strict: true },
};
const image = { type: "image", data: "aGk=", mimeType: "image/png" } as const;
const seen: Message = { role: "user", content: [{ type: "text", text: "See \ud83d" }, image] };
const result: Message = {
  role: "tool",
  callId: "functions.x:0",
  name: "x",
  output: "",
  isError: true,
  content: [image],
};

function reply(provider: string, content: AssistantMessage["content"], model = "m"): AssistantMessage {
  return { role: "assistant", content, model: `${provider}/${model}` };
}

describe("Responses", () => {
  const thinking = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x==" };
  const message = { type: "message", role: "assistant", id: "msg_1", status: "completed", phase: "commentary" };
  const own = reply("openai", [
    { type: "reasoning", text: "", opaque: { provider: "openai", data: thinking } },
    { type: "text", text: "Hm", opaque: { provider: "openai", data: message } },
    {
      type: "tool-call",
      id: "a",
      name: "functions.x",
      args: { n: 1 },
      opaque: { provider: "openai", data: { type: "function_call", id: "fc_1" } },
    },
  ]);

  test("replays its own items in order, with their ids, phase and encrypted reasoning", () => {
    expect(toResponsesItems(own, "openai/m")).toEqual([
      thinking,
      {
        type: "message",
        role: "assistant",
        id: "msg_1",
        status: "completed",
        phase: "commentary",
        content: [{ type: "output_text", text: "Hm", annotations: [] }],
      },
      { type: "function_call", call_id: "a", name: "functions_x", arguments: '{"n":1}', id: "fc_1" },
    ]);
  });

  test("sends what another model wrote as plain text and calls", () => {
    expect(toResponsesItems(own, "openai/other")).toEqual([
      { role: "assistant", content: "Hm" },
      { type: "function_call", call_id: "a", name: "functions_x", arguments: '{"n":1}' },
    ]);
  });

  test("leaves out reasoning that is not followed by anything", () => {
    expect(toResponsesItems({ ...own, content: own.content.slice(0, 1) }, "openai/m")).toEqual([]);
  });

  test("sends pictures of users and tools, and complete Unicode", () => {
    const url = "data:image/png;base64,aGk=";
    expect(toResponsesItems(seen, "openai/m")).toEqual([
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "See \ufffd" },
          { type: "input_image", detail: "auto", image_url: url },
        ],
      },
    ]);
    expect(toResponsesItems(result, "openai/m")).toMatchObject([
      {
        type: "function_call_output",
        output: [
          { type: "input_text", text: "" },
          { type: "input_image", image_url: url },
        ],
      },
    ]);
  });

  test("sends strict for every tool", () => {
    const { strict: _, ...loose } = tool.function;
    expect(toOpenAIResponsesTool(tool)).toEqual({
      type: "function",
      name: "read_file",
      description: "Read.",
      parameters,
      strict: true,
    });
    expect(toOpenAIResponsesTool({ type: "function", function: loose }).strict).toBe(false);
  });
});

describe("Messages", () => {
  const signed = { type: "thinking", thinking: "Hm", signature: "c2ln" };
  const own = reply("anthropic", [
    { type: "reasoning", text: "Hm", opaque: { provider: "anthropic", data: signed } },
    { type: "text", text: " \n" },
    { type: "tool-call", id: "a", name: "x", args: {} },
    { type: "tool-call", id: "b", name: "x", args: {} },
  ]);
  const wire = (...messages: Message[]) => joinTurns(messages.map((message) => toAnthropicTurn(message, true)));

  test("replays its own thinking with its signature and leaves out blank text", () => {
    expect(wire(own)).toEqual([
      {
        role: "assistant",
        content: [
          signed,
          { type: "tool_use", id: "a", name: "x", input: {} },
          { type: "tool_use", id: "b", name: "x", input: {} },
        ],
      },
    ]);
    expect(toAnthropicTurn(own, false).content).toHaveLength(2);
  });

  test("puts all results of one reply into one message, pictures and errors marked", () => {
    const one: Message = { role: "tool", callId: "a", name: "x", output: "fine", isError: false };
    const joined = wire(own, one, result, { role: "user", content: [{ type: "text", text: "And?" }] });
    expect(joined.map(({ role }) => role)).toEqual(["assistant", "user", "user"]);
    expect(joined[1]?.content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "fine" }] },
      {
        type: "tool_result",
        tool_use_id: expect.stringMatching(/^functions_x_0_/),
        content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } }],
        is_error: true,
      },
    ]);
  });

  test("mapping twice gives the same bytes: joining does not change the history", () => {
    const turns = [own, result, result].map((message) => toAnthropicTurn(message, true));
    expect(JSON.stringify(joinTurns(turns))).toBe(JSON.stringify(joinTurns(turns)));
  });

  test("does not end a message with thinking, nor send an empty one", () => {
    expect(wire({ ...own, content: own.content.slice(0, 1) })).toEqual([]);
    expect(wire({ role: "user", content: [] })).toEqual([
      { role: "user", content: [{ type: "text", text: "(no text)" }] },
    ]);
  });

  test("maps tools and choices", () => {
    expect(toAnthropicTool(tool)).toEqual({
      name: "read_file",
      description: "Read.",
      input_schema: parameters,
      strict: true,
    });
    expect(toAnthropicToolChoice("required")).toEqual({ type: "any" });
    expect(toAnthropicToolChoice({ name: "x" })).toEqual({ type: "tool", name: "x" });
  });
});

describe("chat completions", () => {
  const author = { name: "openrouter", model: "openrouter/m" };
  const details = { reasoning_details: [{ type: "reasoning.encrypted", data: "x", index: 0 }] };
  const own = reply("openrouter", [
    { type: "reasoning", text: "Hm", opaque: { provider: "openrouter", data: details } },
    { type: "tool-call", id: "a", name: "x", args: { n: 1 } },
  ]);

  test("replays reasoning in the field it came in, only to its author and where the server accepts it", () => {
    expect(toChatMessage(own, author, openRouterCompat)).toEqual({
      role: "assistant",
      content: null,
      ...details,
      tool_calls: [{ type: "function", id: "a", function: { name: "x", arguments: '{"n":1}' } }],
    });
    expect(toChatMessage(own, { ...author, model: "openrouter/n" }, openRouterCompat)).not.toHaveProperty(
      "reasoning_details",
    );
    expect(toChatMessage(own, author, { ...openRouterCompat, replayReasoning: false })).not.toHaveProperty(
      "reasoning_details",
    );
  });

  test("a message of text is one string, and a tool's picture becomes a name", () => {
    const text: Message = { role: "user", content: ["a", "b"].map((part) => ({ type: "text", text: part }) as const) };
    expect(toChatMessage(text, author, defaultCompat).content).toBe("a\nb");
    expect(toChatMessage(seen, author, defaultCompat).content).toHaveLength(2);
    expect(toChatMessage(result, author, defaultCompat).content).toContain("[1 picture not shown");
    expect(toChatMessage(reply("x", []), author, defaultCompat)).toEqual({ role: "assistant", content: "" });
  });

  test("strict is sent only where the server accepts it", () => {
    expect(toChatTools([tool], openRouterCompat)[0]?.function.strict).toBe(true);
    expect(toChatTools([tool], defaultCompat)[0]?.function).not.toHaveProperty("strict");
    expect(toChatToolChoice({ name: "x" })).toEqual({ type: "function", function: { name: "x" } });
  });
});
