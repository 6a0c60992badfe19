import { Agent, AgentError, type AgentEvent } from "@toolcrib/agent";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from "ai";
import { describe, expect, test, vi } from "vitest";
import { readMessage } from "../../testing/readPage.ts";
import { fromUIMessages, toUIMessageStream, toUIMessages } from "../aiSdk.ts";

async function* eventsOf(...events: (AgentEvent | Error)[]): AsyncGenerator<AgentEvent, void> {
  for (const event of events) {
    if (event instanceof Error) throw event;
    yield event;
  }
}

/** Returns the chunks of some events, each as the AI SDK's own schema takes it. */
async function chunksOf(...events: (AgentEvent | Error)[]): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = [];
  const schema = uiMessageChunkSchema();
  for await (const chunk of toUIMessageStream(eventsOf(...events))) {
    expect(await schema.validate?.(chunk)).toMatchObject({ success: true });
    chunks.push(chunk);
  }
  return chunks;
}

const step: AgentEvent = { type: "step-start", step: 1 };
const end: AgentEvent = { type: "end", reason: "stop", text: "" };
const total = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const call = { type: "tool-call", id: "c", name: "look", args: { at: 1 } } as const;
const result = { type: "tool-result", id: "c", name: "look", output: "seen", isError: false } as const;
const picture = { type: "image", data: "aGk=", mimeType: "image/png" } as const;
const question = { callId: "c", name: "look", args: { at: 2 }, question: { text: "May it?", data: { a: 1 } } };
const told = { type: "tool-input-available", toolCallId: "c", toolName: "look", dynamic: true } as const;

describe("every event becomes what the protocol has for it", () => {
  test.each<[string, AgentEvent[], object[]]>([
    [
      "a text",
      [
        { type: "text-delta", text: "a" },
        { type: "text-delta", text: "b" },
      ],
      [
        { type: "text-start", id: "text-1" },
        { type: "text-delta", id: "text-1", delta: "a" },
        { type: "text-delta", id: "text-1", delta: "b" },
        { type: "text-end", id: "text-1" },
      ],
    ],
    [
      "reasoning",
      [{ type: "reasoning-delta", text: "a" }],
      [
        { type: "reasoning-start", id: "reasoning-1" },
        { type: "reasoning-delta", id: "reasoning-1", delta: "a" },
        { type: "reasoning-end", id: "reasoning-1" },
      ],
    ],
    [
      "a call and its result",
      [call, result],
      [
        { ...told, input: { at: 1 } },
        { type: "tool-output-available", toolCallId: "c", output: "seen", dynamic: true },
      ],
    ],
    [
      "a call that failed",
      [call, { ...result, isError: true }],
      [
        { ...told, input: { at: 1 } },
        { type: "tool-output-error", toolCallId: "c", errorText: "seen", dynamic: true },
      ],
    ],
    [
      "a call within another",
      [{ ...call, within: "p" }],
      [{ ...told, input: { at: 1 }, toolMetadata: { within: "p" } }],
    ],
    [
      "a picture of a result, once the step is over",
      [call, { ...result, content: [picture] }],
      [
        { ...told, input: { at: 1 } },
        { type: "tool-output-available", toolCallId: "c", output: "seen", dynamic: true },
        { type: "file", url: "data:image/png;base64,aGk=", mediaType: "image/png" },
      ],
    ],
    [
      "a question",
      [call, { type: "end", reason: "approval", text: "", pending: [question] }],
      [
        { ...told, input: { at: 1 } },
        { ...told, input: { at: 2 } },
        {
          ...{ type: "tool-approval-request", approvalId: expect.stringMatching(/^c\.[0-9a-f]{16}$/), toolCallId: "c" },
          ...{ reason: "May it?", approvalDescriptor: { text: "May it?", data: { a: 1 } } },
        },
      ],
    ],
    [
      "a message that was steered",
      [{ type: "steering", text: "also" }],
      [{ type: "steering-message", id: expect.any(String), parts: [{ type: "text", text: "also" }] }],
    ],
  ])("%s", async (_name, events, chunks) => {
    const last = events.at(-1)?.type === "end" ? [] : [end];
    const all = await chunksOf(step, ...events, ...last);
    expect(all.slice(1, -1).filter(({ type }) => type !== "start-step")).toEqual(chunks);
  });

  test.each<[string, AgentEvent, object]>([
    [
      "progress",
      { type: "tool-progress", id: "c", name: "look", progress: { message: "half" } },
      { id: "c", data: { message: "half" } },
    ],
    [
      "a retry",
      { type: "retry", attempt: 2, delayMs: 1, message: "lost", discardText: false },
      { data: { kind: "retry", text: "lost" } },
    ],
    ["a shortened conversation", { type: "compaction", summarisedMessages: 2 }, { data: { kind: "compaction" } }],
    [
      "thinking left out",
      { type: "thinking-dropped", blocks: 1, reason: "old" },
      { data: { kind: "thinking-dropped", text: "old" } },
    ],
    [
      "a call that was text",
      { type: "unread-call", name: "look", problem: "in-line", message: "not run" },
      { data: { kind: "unread-call", text: "not run" } },
    ],
  ])("%s is shown for a moment, and no part of the message", async (_name, event, chunk) => {
    const [, shown] = await chunksOf(step, event, end);
    expect(shown).toMatchObject({ ...chunk, transient: true });
  });

  test.each([
    ["stop", "stop"],
    ["approval", "tool-calls"],
    ["step-limit", "other"],
    ["stuck", "other"],
    ["token-limit", "length"],
    ["context-limit", "length"],
    ["refusal", "content-filter"],
    ["content-filter", "content-filter"],
  ] as const)("the end %s is %s, with our own word and the usage as metadata", async (reason, finishReason) => {
    const all = await chunksOf(
      step,
      { type: "usage", usage: total, total },
      { type: "end", reason, text: "", detail: "why" },
    );
    expect(all.at(-1)).toEqual({
      type: "finish",
      finishReason,
      messageMetadata: { endReason: reason, detail: "why", usage: total },
    });
  });

  test("a failure is an error in words, a stop an abort; all that was open is closed", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const secret = await chunksOf(step, { type: "text-delta", text: "a" }, new Error("a secret"));
    expect(log.mock.calls.map(String)).toEqual(["Error: a secret"]);
    log.mockRestore();
    expect(secret.at(-1)).toEqual({ type: "error", errorText: "Something went wrong on the server." });
    const failed = await chunksOf(step, new AgentError({ code: "network", message: "The line is dead." }));
    expect(failed.at(-1)).toEqual({ type: "error", errorText: "The line is dead." });
    const stopped = await chunksOf(
      step,
      { type: "text-delta", text: "a" },
      new AgentError({ code: "aborted", message: "Stopped." }),
    );
    expect(stopped.map(({ type }) => type)).toContain("text-end");
    expect(stopped.at(-1)).toEqual({ type: "abort", reason: "Stopped." });
  });
});

test("text that is tried again is taken back", async () => {
  const retry: AgentEvent = { type: "retry", attempt: 2, delayMs: 1, message: "lost", discardText: true };
  const events = eventsOf(
    step,
    { type: "text-delta", text: "half" },
    retry,
    { type: "text-delta", text: "whole" },
    end,
  );
  const { message } = await readMessage(toUIMessageStream(events));
  expect(message?.parts.filter((part) => part.type === "text").map(({ text }) => text)).toEqual(["whole"]);
});

const look = defineTool({ name: "look", description: "Look", parameters: { type: "object" }, execute: () => "seen" });

test("no text of a model or a tool becomes anything but text", async () => {
  const markup = '<img src=x onerror=alert(1)>\ndata: {"type":"finish"}\n\n';
  const tool = { ...look, execute: async () => markup };
  const agent = new Agent(new ScriptedProvider([{ text: markup, calls: [{ name: "look" }] }, "ok"]), {
    tools: new ToolRegistry([tool]),
  });
  const { message } = await readMessage(toUIMessageStream(agent.streamChat("go"), { agent }));
  expect(message?.parts.find((part) => part.type === "text")).toMatchObject({ text: markup });
  expect(message?.parts.find((part) => part.type === "dynamic-tool")).toMatchObject({ output: markup });
});

test("messages of a page become a session again, with their calls, pictures and texts", async () => {
  const provider = new ScriptedProvider([
    { reasoning: "hm", text: "I look.", calls: [{ name: "look" }] },
    "Seen.",
    "Ok.",
  ]);
  const agent = new Agent(provider, { tools: new ToolRegistry([look]) });
  await agent.chat([{ type: "text", text: "see" }, picture]);
  const shown = JSON.parse(JSON.stringify(toUIMessages(agent))) as UIMessage[];
  const messages = fromUIMessages(shown);
  expect(messages).toEqual(
    agent.sessionContext
      .map((message) => ({ ...message, model: undefined }))
      .map((one) => expect.objectContaining(JSON.parse(JSON.stringify(one)))),
  );
  const session = { format: "toolcrib-session", version: 1, savedAt: "", systemPrompt: "", messages } as const;
  const resumed = await Agent.resume(new ScriptedProvider(["Still here."]), session);
  expect(await resumed.chat("there?")).toBe("Still here.");
});

test("a text file becomes text, and anything else that no model takes is refused", () => {
  const file = (url: string): UIMessage => ({ id: "1", role: "user", parts: [{ type: "file", mediaType: "", url }] });
  const [message] = fromUIMessages([file("data:text/plain;base64,aGk=")]);
  expect(message).toMatchObject({ content: [{ type: "text", text: "hi" }] });
  for (const url of [
    "data:application/pdf;base64,aGk=",
    "https://x.example/a.png",
    "data:image/svg+xml;base64,aGk=",
    "data:image/png;base64,%",
  ])
    expect(() => fromUIMessages([file(url)])).toThrow(/data: URL/);
});

test("a stream that is cancelled ends its turn, and the agent stays usable", async () => {
  const agent = new Agent(new ScriptedProvider(["one two three", "Still here."]));
  const reader = toUIMessageStream(agent.streamChat("go"), { agent }).getReader();
  for (let count = 0; count < 4; count += 1) await reader.read();
  await reader.cancel();
  expect(await agent.chat("there?")).toBe("Still here.");
});

test("without an agent the page gives its messages their ids", async () => {
  const [start] = await chunksOf(step, end);
  expect(start).toEqual({ type: "start" });
});
