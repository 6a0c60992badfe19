import { readFileSync } from "node:fs";
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import { Stream as AnthropicStream } from "@anthropic-ai/sdk/streaming";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { Stream as OpenAIStream } from "openai/streaming";
import { describe, expect, test, vi } from "vitest";
import { service } from "../../testing/replies.ts";
import { isAgentError } from "../errors.ts";
import type { ProviderEvent } from "../provider.ts";
import { ContentReader } from "../textCalls/contentReader.ts";
import { OfferedTools } from "../textCalls/endCalls.ts";
import { AnthropicReply } from "./anthropic/reply.ts";
import { ChatReply } from "./chat/reply.ts";
import { toAgentError } from "./errors/wireErrors.ts";
import { ResponsesReply } from "./openai/reply.ts";
import type { ReplyReducer } from "./shared/streamReply.ts";

type Replay = (response: Response) => Promise<ProviderEvent[]>;

/** The recorded bytes through the SDK's own decoder and the reducer. */
async function through<Chunk>(stream: AsyncIterable<Chunk>, reply: ReplyReducer<Chunk>): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = [];
  for await (const chunk of stream) events.push(...reply.push(chunk));
  return [...events, ...(reply.flush?.() ?? []), reply.end()];
}
const parameters = { type: "object", properties: { path: { type: "string" }, limit: { type: "integer" } } };
const offered = new OfferedTools([
  { type: "function", function: { name: "read_file", description: "Reads.", parameters } },
]);
const replays: Record<string, Replay> = {
  responses: (response) => {
    const stream = OpenAIStream.fromSSEResponse<ResponseStreamEvent>(response, new AbortController());
    return through(stream, new ResponsesReply(service, "test/m"));
  },
  messages: (response) => {
    const stream = AnthropicStream.fromSSEResponse<RawMessageStreamEvent>(response, new AbortController());
    return through(stream, new AnthropicReply(service, "test/m"));
  },
  chat: (response) => {
    const stream = OpenAIStream.fromSSEResponse<ChatCompletionChunk>(response, new AbortController());
    return through(stream, new ChatReply(service, "test/m", []));
  },
  chatText: (response) => {
    const stream = OpenAIStream.fromSSEResponse<ChatCompletionChunk>(response, new AbortController());
    return through(stream, new ChatReply(service, "test/m", [], new ContentReader(offered)));
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
    for (let at = 1; at < bytes.length; at += 61) {
      expect(await replay(responseOf(bytes.subarray(0, at), bytes.subarray(at))), `split at ${at}`).toEqual(whole);
    }
  });

  test("with another word at its end is a failure that names it, and comments between its events change nothing", async () => {
    const text = recorded(format).toString();
    const word = /"(finish_reason|stop_reason|status)":"(tool_calls|tool_use|completed|stop)"/g;
    const odd = text.replace(word, '"$1":"of_next_year"');
    expect(odd).not.toBe(text);
    const failed = await replay(responseOf(Buffer.from(odd))).catch((error: unknown) =>
      toAgentError(error, service, true),
    );
    expect(failed).toMatchObject({
      code: "bad_reply",
      retryable: true,
      message: expect.stringContaining("of_next_year"),
    });
    const commented = text.replaceAll("\n\n", "\n\n: still working\n\n");
    expect(await replay(responseOf(Buffer.from(commented)))).toEqual(await replay(responseOf(Buffer.from(text))));
  });

  test("cut anywhere is the whole reply or a failure that may be tried again, never a partial reply", async () => {
    const bytes = recorded(format);
    const whole = (await replay(responseOf(bytes))).at(-1);
    let failures = 0;
    let cuts = 0;
    // The SDKs print a chunk that is no JSON; here that is what is tested.
    const print = vi.spyOn(console, "error").mockReturnValue(undefined);
    for (let at = 0; at < bytes.length; at += 1) {
      // Within a line the place makes no difference, but for its first and last bytes.
      const isEdge = bytes.subarray(Math.max(0, at - 1), at + 2).includes(10) || at > bytes.length - 40;
      if (!isEdge && at % 17 !== 0) continue;
      cuts += 1;
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
    print.mockRestore();
    expect(failures).toBeGreaterThan(cuts / 2);
  });
});
