import { type ChatTool, toAnthropicTool, toOpenAIResponsesTool } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import type { AssistantMessage, Message } from "../messages.ts";
import { joinTurns, toAnthropicToolChoice, toAnthropicTurn } from "./anthropic/mapping.ts";
import { defaultCompat, openRouterCompat } from "./chat/compat.ts";
import { joinUserMessages, toChatMessage, toChatToolChoice, toChatTools } from "./chat/mapping.ts";
import { toResponsesItems } from "./openai/mapping.ts";

const properties = { path: { type: "string" } };
const parameters = { type: "object", properties, required: ["path"], additionalProperties: false };
const tool: ChatTool = {
  type: "function",
  function: { name: "read_file", description: "Read.", parameters, strict: true },
};
const image = { type: "image", data: "aGk=", mimeType: "image/png" } as const;
const seen: Message = { role: "user", content: [{ type: "text", text: "See \ud83d" }, image] };
const told = { role: "tool", callId: "functions.x:0", name: "x", output: "" } as const;
const result: Message = { ...told, isError: true, content: [image] };

function reply(provider: string, content: AssistantMessage["content"], model = "m"): AssistantMessage {
  return { role: "assistant", content, model: `${provider}/${model}` };
}

describe("Responses", () => {
  const thinking = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x==" };
  const message = { type: "message", role: "assistant", id: "msg_1", status: "completed", phase: "commentary" };
  const call = { type: "function_call", id: "fc_1" };
  const own = reply("openai", [
    { type: "reasoning", text: "", opaque: { provider: "openai", data: thinking } },
    { type: "text", text: "Hm", opaque: { provider: "openai", data: message } },
    { type: "tool-call", id: "a", name: "functions.x", args: { n: 1 }, opaque: { provider: "openai", data: call } },
  ]);

  test("sends what another model wrote as plain text and calls", () => {
    expect(toResponsesItems(own, "openai/other")).toEqual([
      { role: "assistant", content: "Hm" },
      { type: "function_call", call_id: "a", name: "functions_x", arguments: '{"n":1}' },
    ]);
  });

  test("writes arguments anew in which the model escaped half a character", () => {
    const data = { ...call, arguments: '{"n": "\\ud99c"}' };
    const block = { type: "tool-call", id: "a", name: "x", args: { n: "\ufffd" } } as const;
    const items = toResponsesItems(reply("openai", [{ ...block, opaque: { provider: "openai", data } }]), "openai/m");
    expect(items).toEqual([{ ...data, call_id: "a", name: "x", arguments: '{"n":"\ufffd"}' }]);
  });

  test("leaves out reasoning that is not followed by anything", () => {
    expect(toResponsesItems({ ...own, content: own.content.slice(0, 1) }, "openai/m")).toEqual([]);
  });

  test("sends pictures of users and tools, and complete Unicode", () => {
    const url = "data:image/png;base64,aGk=";
    const shown = { type: "input_image", image_url: url };
    const content = [
      { type: "input_text", text: "See \ufffd" },
      { ...shown, detail: "auto" },
    ];
    expect(toResponsesItems(seen, "openai/m")).toEqual([{ type: "message", role: "user", content }]);
    const output = [{ type: "input_text", text: "" }, shown];
    expect(toResponsesItems(result, "openai/m")).toMatchObject([{ type: "function_call_output", output }]);
  });

  test("sends strict for every tool", () => {
    const { strict: _, ...loose } = tool.function;
    expect(toOpenAIResponsesTool(tool)).toEqual({ type: "function", ...loose, strict: true });
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
    const uses = ["a", "b"].map((id) => ({ type: "tool_use", id, name: "x", input: {} }));
    expect(wire(own)).toEqual([{ role: "assistant", content: [signed, ...uses] }]);
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
    const none = { role: "user", content: [{ type: "text", text: "(no text)" }] };
    expect(wire({ role: "user", content: [] })).toEqual([none]);
  });

  test("maps tools and choices", () => {
    const mapped = { name: "read_file", description: "Read.", input_schema: parameters, strict: true };
    expect(toAnthropicTool(tool)).toEqual(mapped);
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
    const silent = { ...openRouterCompat, replayReasoning: false };
    const others = [
      toChatMessage(own, { ...author, model: "openrouter/n" }, openRouterCompat),
      toChatMessage(own, author, silent),
    ];
    for (const other of others) expect(other).not.toHaveProperty("reasoning_details");
  });

  test("a message of text is one string, and a tool's picture becomes a name", () => {
    const text: Message = { role: "user", content: ["a", "b"].map((part) => ({ type: "text", text: part }) as const) };
    expect(toChatMessage(text, author, defaultCompat).content).toBe("a\nb");
    expect(toChatMessage(seen, author, defaultCompat).content).toHaveLength(2);
    expect(toChatMessage(result, author, defaultCompat).content).toContain("[1 picture not shown");
    expect(toChatMessage(reply("x", []), author, defaultCompat)).toEqual({ role: "assistant", content: "" });
  });

  test("two messages of the user in a row go as one, with their pictures, and nothing else is joined", () => {
    const said = (content: string) => ({ role: "user", content }) as const;
    const pictured = toChatMessage(seen, author, defaultCompat);
    const answer = { role: "assistant", content: "Yes." } as const;
    expect(joinUserMessages([said("a"), said("b"), answer, said("c"), said("d"), said("e")])).toEqual([
      said("a\n\nb"),
      answer,
      said("c\n\nd\n\ne"),
    ]);
    const [joined] = joinUserMessages([said("a"), pictured]);
    expect(joined).toEqual({ role: "user", content: [{ type: "text", text: "a" }, ...(pictured.content as [])] });
    expect(pictured.content).toHaveLength(2);
  });

  test("more tools than a request takes are said before it", () => {
    const many = Array.from({ length: 129 }, () => tool);
    expect(() => toChatTools(many, defaultCompat)).toThrow(
      /129 tools are enabled, and chat completions take at most 128/,
    );
    expect(toChatTools(many, { ...defaultCompat, mostTools: Infinity })).toHaveLength(129);
  });

  test("strict is sent only where the server accepts it", () => {
    expect(toChatTools([tool], openRouterCompat)[0]?.function.strict).toBe(true);
    expect(toChatTools([tool], defaultCompat)[0]?.function).not.toHaveProperty("strict");
    expect(toChatToolChoice({ name: "x" })).toEqual({ type: "function", function: { name: "x" } });
  });
});
