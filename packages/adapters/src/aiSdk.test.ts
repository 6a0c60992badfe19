import { ToolRegistry } from "@toolcrib/core";
import { dynamicTool, generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createScenario, pixel, shownAtFirst } from "../testing/scenario.ts";
import { fromAiSdkTool, toAiSdkTools } from "./aiSdk.ts";

type Stream = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"];
type StreamPart = Stream extends ReadableStream<infer Part> ? Part : never;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finish = (unified: "stop" | "tool-calls") => ({ finishReason: { unified, raw: undefined }, usage });
const call = (toolName: string, input: string) => ({ type: "tool-call", toolCallId: "1", toolName, input }) as const;

/** The results that a request carries for its last step. */
function results(request: MockLanguageModelV4["doGenerateCalls"][number] | undefined): unknown[] {
  const last = request?.prompt.at(-1);
  return last?.role === "tool" ? last.content.map((part) => ("output" in part ? part.output : part)) : [];
}

describe("toAiSdkTools", () => {
  test("works with streamText", async () => {
    const { registry } = createScenario();
    const id = "1";
    const replies: StreamPart[][] = [
      [call("add", '{"a":1,"b":"1"}'), { type: "finish", ...finish("tool-calls") }],
      [
        { type: "text-start", id },
        { type: "text-delta", id, delta: "done" },
        { type: "text-end", id },
        { type: "finish", ...finish("stop") },
      ],
    ];
    const model = new MockLanguageModelV4({
      doStream: replies.map((chunks) => ({ stream: simulateReadableStream({ chunks, chunkDelayInMs: null }) })),
    });
    const result = streamText({ model, prompt: "go", tools: toAiSdkTools(registry), stopWhen: isStepCount(5) });
    expect(await result.text).toBe("done");
    expect(results(model.doStreamCalls[1])).toEqual([{ type: "text", value: "2" }]);
  });

  test("passes middleware with the loop's call id, the caller's labels and time limit", async () => {
    const { registry } = createScenario();
    const seen: unknown[] = [];
    registry.use((call, next) => {
      seen.push([call.callId, call.labels]);
      return next();
    });
    const model = new MockLanguageModelV4({
      doGenerate: [
        { content: [call("hold", "{}")], ...finish("tool-calls"), warnings: [] },
        { content: [{ type: "text", text: "done" }], ...finish("stop"), warnings: [] },
      ],
    });
    const tools = toAiSdkTools(registry, { labels: { chat: 7 }, timeoutMs: 10 });
    await generateText({ model, prompt: "go", tools, stopWhen: isStepCount(5) });
    expect(seen).toEqual([["1", { chat: 7 }]]);
    expect(results(model.doGenerateCalls[1])).toEqual([
      { type: "error-text", value: "Error executing hold: Timed out after 10 ms" },
    ]);
  });

  test("behaves as a plain object that is read-only: it can be copied and its keys listed", () => {
    const { registry } = createScenario();
    const tools = toAiSdkTools(registry);
    expect(Object.keys({ ...tools })).toEqual(shownAtFirst);
    expect("add" in tools).toBe(true);
    expect("toString" in tools).toBe(false);
    expect(() => Object.assign(tools, { extra: tools.add })).toThrow(TypeError);
  });
});

describe("fromAiSdkTool", () => {
  const registryOf = async (...args: Parameters<typeof fromAiSdkTool>): Promise<ToolRegistry> => {
    const registry = new ToolRegistry();
    registry.register(await fromAiSdkTool(...args));
    return registry;
  };
  const inputSchema = z.object({ city: z.string(), days: z.number().default(1) });

  test("lists the tool with its origin", async () => {
    const registry = await registryOf("add", tool({ inputSchema: z.object({}), execute: () => "3" }));
    expect(registry.listTools()).toMatchObject([{ name: "add", origin: "ai-sdk" }]);
  });

  test("runs with its own schema's output, after repair", async () => {
    const execute = async ({ city, days }: z.infer<typeof inputSchema>) => ({ city, days });
    const registry = await registryOf("weather", tool({ description: "Weather.", inputSchema, execute }));
    expect(await registry.execute("weather", { city: "Oslo" })).toBe('{"city":"Oslo","days":1}');
    expect(await registry.execute("weather", { city: "Oslo", days: "3" })).toBe('{"city":"Oslo","days":3}');
    expect(await registry.execute("weather", {})).toMatch(/^Error executing weather: Invalid arguments: city: [^\n]+$/);
  });

  test("keeps toModelOutput, with images", async () => {
    const registry = await registryOf(
      "draw",
      dynamicTool({
        description: "Draws.",
        inputSchema: jsonSchema({ type: "object" }),
        execute: () => "a dot",
        toModelOutput: ({ output }) => ({
          type: "content",
          value: [
            { type: "text", text: String(output) },
            { type: "file", data: { type: "data", data: pixel }, mediaType: "image/png" },
          ],
        }),
      }),
    );
    expect(await registry.invoke("draw")).toEqual({
      ok: true,
      output: "a dot",
      content: [
        { type: "text", text: "a dot" },
        { type: "image", data: pixel, mimeType: "image/png" },
      ],
    });
  });

  test("answers with the last value of a tool that yields, and with an error where toModelOutput says so", async () => {
    const counting = tool({
      inputSchema: z.object({}),
      execute: async function* () {
        yield 1;
        yield 2;
      },
    });
    expect(await (await registryOf("count", counting)).execute("count")).toBe("2");
    const refusing = tool({
      inputSchema: z.object({}),
      execute: () => 1,
      toModelOutput: () => ({ type: "execution-denied", reason: "not today" }),
    });
    const registry = await registryOf("refuse", refusing);
    expect(await registry.invoke("refuse")).toMatchObject({ error: { code: "permission_denied" } });
  });

  test("refuses tools that the AI SDK does not run itself", async () => {
    const asking = tool({ inputSchema: z.object({}), execute: () => 1, needsApproval: true });
    await expect(fromAiSdkTool("asking", asking)).rejects.toMatchObject({ code: "invalid_tool", toolName: "asking" });
    const bare = tool({ inputSchema: z.object({}), outputSchema: z.string() });
    await expect(fromAiSdkTool("bare", bare)).rejects.toThrow("it has no execute");
  });
});
