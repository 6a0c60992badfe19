import type { ToolRegistry } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { registryOf } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import { callsOf } from "../conversation/conversation.ts";
import type { AgentOptions } from "../options.ts";
import type { Provider } from "../provider.ts";
import { validateEvent } from "./validateEvent.ts";

/** A provider as somebody writes it without types: each request gets the next of `answers`. */
function ownProvider(...answers: unknown[]): Provider {
  const send = async function* (): AsyncGenerator<unknown> {
    yield answers.shift();
  };
  return { name: "mine", model: "m", send } as unknown as Provider;
}

const text = (said: string, rest: object = {}): object => ({
  type: "reply",
  message: { role: "assistant", content: [{ type: "text", text: said }] },
  stop: "stop",
  ...rest,
});
const call = (block: object): object => ({
  type: "reply",
  message: { content: [{ type: "tool-call", id: "a", name: "echo", ...block }] },
  stop: "tool-calls",
});

const tools = (): ToolRegistry => registryOf({ echo: ({ a }) => `heard ${a}` });

test("calls of one reply get distinct, legal ids and keep good ones", () => {
  const calls = ["a", "a", "", "b c"].map((id) => ({ type: "tool-call", id, name: "t", args: {} }));
  const event = { type: "reply", message: { content: calls }, stop: "tool-calls" };
  const reply = validateEvent(ownProvider(), event, new Set());
  const ids = reply.type === "reply" ? callsOf(reply.message).map((call) => call.id) : [];
  expect(ids[0]).toBe("a");
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
});

describe("a mistake of a user's own provider ends the turn with one sentence that names it", () => {
  test.each([
    [undefined, /an event is an object with a type, received undefined/],
    ["hi", /an event is an object with a type, received "hi"/],
    [{ type: "text", text: "hi" }, /the type of an event is activity, text-delta, .* received "text"/],
    [{ type: "text-delta", delta: "hi" }, /a text-delta event needs text, a string, received undefined/],
    [{ type: "reply", stop: "stop", text: "hi" }, /a reply needs a message, an object, received undefined/],
    [text("hi", { stop: undefined }), /the stop of a reply is one of stop, tool-calls, .* received undefined/],
    [text("hi", { stop: "end_turn" }), /received "end_turn"/],
    [{ type: "reply", stop: "stop", message: {} }, /the content of a reply is a list of blocks, received undefined/],
    [call({ type: "tool_call" }), /the type of a block is text, reasoning or tool-call, received "tool_call"/],
    [call({ type: "text" }), /a text block needs text, a string, received undefined/],
    [{ type: "text-delta", text: "hi", phase: "draft" }, /the phase of a text is commentary or .* received "draft"/],
    [call({ type: "text", text: "hi", phase: null }), /the phase of a text is commentary or .* received null/],
    [call({ name: undefined }), /a tool-call block needs name, a string, received undefined/],
  ])("%j", async (event, problem) => {
    const agent = new Agent(ownProvider(event, text("well")));
    await expect(agent.chat("hello")).rejects.toMatchObject({
      code: "bad_reply",
      message: expect.stringMatching(problem),
    });
    expect(await agent.chat("again")).toBe("well");
  });

  test.each([[() => undefined], [async () => [text("hi")]], [() => [text("hi")]]])(
    "the return value of send as %s",
    async (send) => {
      const agent = new Agent({ name: "mine", model: "m", send } as unknown as Provider);
      await expect(agent.chat("hello")).rejects.toMatchObject({
        code: "bad_reply",
        message: expect.stringContaining("write it as async *send(request)"),
      });
    },
  );
});

test("text as a string becomes a block of text, and missing counts of usage are 0", async () => {
  const usage = { inputTokens: 7 };
  const agent = new Agent(ownProvider({ type: "reply", message: { content: "hi" }, stop: "stop", usage }));
  expect(await agent.chat("hello")).toBe("hi");
  expect(agent.sessionContext[1]).toEqual({ role: "assistant", content: [{ type: "text", text: "hi" }] });
  expect(agent.usage).toEqual({
    ...{ inputTokens: 7, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  });
});

test.each([
  [{ args: '{"a":"x"}' }, "heard x"],
  [{ args: "" }, "heard undefined"],
  [{}, "heard undefined"],
  [{ id: undefined, args: { a: "x" } }, "heard x"],
  [{ id: 7, args: { a: "x" } }, "heard x"],
  [{ args: '{"a":' }, expect.stringMatching(/^Error executing echo: Invalid arguments: expected a JSON object/)],
  [{ args: [1] }, "Error executing echo: Invalid arguments: expected a JSON object, received [1]"],
])("a call %j, passed on from the wire as it is, is run or answered", async (block, output) => {
  const agent = new Agent(ownProvider(call(block), text("well")), { tools: tools() });
  expect(await agent.chat("hello")).toBe("well");
  const [, reply, result] = agent.sessionContext;
  const { id } = (reply?.role === "assistant" && reply.content[0]) as { id: string };
  expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(result).toMatchObject({ callId: id, output });
});

test.each([
  [undefined, {}, /needs a provider/],
  [class {}, {}, /needs a provider/],
  [ownProvider(), { maxSteps: "5" }, /maxSteps must be a number above 0, received "5"/],
])("an invalid provider %s or options %j are refused at once", (provider, options, message) => {
  const make = (): Agent => new Agent(provider as unknown as Provider, options as unknown as AgentOptions);
  expect(make).toThrow(expect.objectContaining({ code: "invalid_option", message: expect.stringMatching(message) }));
});

test.each([[undefined], [null], [5], [{}], [""], ["  "], [[]], [[{ type: "text", text: " " }]], [["hi"]]])(
  "the message %j is refused before anything is sent, and is not kept",
  async (message) => {
    const agent = new Agent(ownProvider(text("well")));
    await expect(agent.chat(message as string)).rejects.toMatchObject({ code: "invalid_request" });
    expect(agent.sessionContext).toEqual([]);
    expect(await agent.chat("again")).toBe("well");
  },
);
