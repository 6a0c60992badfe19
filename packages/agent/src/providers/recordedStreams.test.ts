import { readFileSync } from "node:fs";
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import { Stream as AnthropicStream } from "@anthropic-ai/sdk/streaming";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { Stream as OpenAIStream } from "openai/streaming";
import { describe, expect, test } from "vitest";
import { isAgentError } from "../errors.ts";
import type { ProviderEvent } from "../provider.ts";
import { createAnthropicState, finishAnthropic, reduceAnthropic } from "./anthropic/reply.ts";
import { createChatState, finishChat, reduceChat } from "./chat/reply.ts";
import { type Service, toAgentError } from "./errors/wireErrors.ts";
import { createResponsesState, finishResponses, reduceResponses } from "./openai/reply.ts";

const service: Service = {
  name: "test",
  label: "Test",
  model: "m",
  baseURL: undefined,
  keyVariable: undefined,
  secrets: [],
};

type Replay = (response: Response) => Promise<ProviderEvent[]>;

/** The recorded bytes through the SDK's own decoder and the pure reducer. */
const replays: Record<string, Replay> = {
  responses: async (response) => {
    const state = createResponsesState(service);
    const events: ProviderEvent[] = [];
    const stream = OpenAIStream.fromSSEResponse<ResponseStreamEvent>(response, new AbortController());
    for await (const chunk of stream) events.push(...reduceResponses(state, chunk));
    return [...events, finishResponses(state, "test/m")];
  },
  messages: async (response) => {
    const state = createAnthropicState(service);
    const events: ProviderEvent[] = [];
    const stream = AnthropicStream.fromSSEResponse<RawMessageStreamEvent>(response, new AbortController());
    for await (const chunk of stream) events.push(...reduceAnthropic(state, chunk));
    return [...events, finishAnthropic(state, "test/m")];
  },
  chat: async (response) => {
    const state = createChatState(service);
    const events: ProviderEvent[] = [];
    const stream = OpenAIStream.fromSSEResponse<ChatCompletionChunk>(response, new AbortController());
    for await (const chunk of stream) events.push(...reduceChat(state, chunk));
    return [...events, finishChat(state, "test/m")];
  },
};

function recorded(format: string): Buffer {
  return readFileSync(new URL(`./fixtures/${format}.sse`, import.meta.url));
}

function responseOf(...parts: Uint8Array[]): Response {
  return new Response(
    new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(part);
        controller.close();
      },
    }),
  );
}

/** The SDKs print a chunk that is no JSON; here that is what is tested. */
async function silently<T>(run: () => Promise<T>): Promise<T> {
  const print = console.error;
  console.error = () => {};
  try {
    return await run();
  } finally {
    console.error = print;
  }
}

const text = "I read both — 日本語 und 🦀 too.";

describe.each(Object.entries(replays))("the recorded %s stream", (format, replay) => {
  test("becomes one reply with its text, reasoning, calls and usage", async () => {
    const events = await replay(responseOf(recorded(format)));
    const reply = events.at(-1);
    if (reply?.type !== "reply") throw new Error("no reply");
    expect(events.map((event) => (event.type === "text-delta" ? event.text : "")).join("")).toBe(text);
    expect(reply.stop).toBe("tool-calls");
    expect(reply.message.content.filter((block) => block.type === "text").map((block) => block.text)).toEqual([text]);
    expect(reply.message.content.find((block) => block.type === "reasoning")?.text).toContain(
      "The user wants both files",
    );
    expect(reply.message.content.flatMap((block) => (block.type === "tool-call" ? [block.args] : []))).toEqual([
      { path: 'src/a "b".ts', limit: 40 },
      { path: "日本/🦀.md" },
    ]);
    expect(reply.usage).toMatchObject({
      inputTokens: 2488,
      outputTokens: 97,
      cacheReadTokens: 2048,
      reasoningTokens: 21,
    });
  });

  test("gives the same events however its bytes are split", async () => {
    const bytes = recorded(format);
    const whole = await replay(responseOf(bytes));
    expect(await replay(responseOf(...Array.from(bytes, (byte) => Uint8Array.of(byte))))).toEqual(whole);
    // A prime, so that splits fall everywhere in characters and lines.
    for (let at = 1; at < bytes.length; at += 31) {
      expect(await replay(responseOf(bytes.subarray(0, at), bytes.subarray(at))), `split at ${at}`).toEqual(whole);
    }
  });

  test("cut at any byte is the whole reply or a failure that may be tried again, never a partial reply", async () => {
    const bytes = recorded(format);
    const whole = (await replay(responseOf(bytes))).at(-1);
    let failures = 0;
    await silently(async () => {
      for (let at = 0; at < bytes.length; at += 1) {
        const outcome = await replay(responseOf(bytes.subarray(0, at))).then(
          (events) => ({ reply: events.at(-1), error: undefined }),
          (error: unknown) => ({ reply: undefined, error: toAgentError(error, service, true) }),
        );
        if (outcome.error) {
          failures += 1;
          expect(isAgentError(outcome.error) && outcome.error.retryable, `cut at ${at}`).toBe(true);
          expect(outcome.error.code).toBe("bad_reply");
        } else {
          expect({ ...outcome.reply, usage: undefined }, `cut at ${at}`).toEqual({ ...whole, usage: undefined });
        }
      }
    });
    expect(failures).toBeGreaterThan(bytes.length / 2);
  });
});
