import { defineTool, ToolRegistry } from "@toolcrib/core";
import { dynamicTool, generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createScenario, pixel, shownAtFirst, shownWithoutAdd } from "../testing/scenario.ts";
import { fromAiSdkTool, toAiSdkTools } from "./aiSdk.ts";

type Options = MockLanguageModelV4["doGenerateCalls"][number];
type Reply = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
type Stream = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"];
type StreamPart = Stream extends ReadableStream<infer Part> ? Part : never;
type Call = [name: string, input: string];

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function reply(calls: readonly Call[]): Reply {
  return {
    content: calls.length
      ? calls.map(([toolName, input], at) => ({ type: "tool-call", toolCallId: `${toolName}-${at}`, toolName, input }))
      : [{ type: "text", text: "done" }],
    finishReason: { unified: calls.length ? "tool-calls" : "stop", raw: undefined },
    usage,
    warnings: [],
  };
}

/** A model that makes the calls of one step after the other, then says `done`. */
function scripted(steps: ReadonlyArray<() => readonly Call[]>): MockLanguageModelV4 {
  let at = 0;
  return new MockLanguageModelV4({ doGenerate: async () => reply(steps[at++]?.() ?? []) });
}

const shown = (call: Options | undefined): string[] => call?.tools?.map(({ name }) => name) ?? [];

/** The results that a request carries for its last step. */
function results(call: Options | undefined): unknown[] {
  const last = call?.prompt.at(-1);
  return last?.role === "tool" ? last.content.map((part) => ("output" in part ? part.output : part)) : [];
}

const disableAdd = (registry: ToolRegistry) => (): readonly Call[] => {
  registry.disable("add");
  return [["add", '{"a":1,"b":1}']];
};

describe("toAiSdkTools", () => {
  test("runs a conversation: repaired arguments, a failure marked as one, a tool disabled in mid-run refused", async () => {
    const { registry } = createScenario();
    const twoCalls = (): readonly Call[] => [
      ["add", '{"a":"2","b":3}'],
      ["fail", ""],
    ];
    const model = scripted([twoCalls, disableAdd(registry)]);
    const { text } = await generateText({
      model,
      prompt: "go",
      tools: toAiSdkTools(registry),
      stopWhen: isStepCount(5),
    });
    expect(text).toBe("done");
    const [first, second, third] = model.doGenerateCalls;
    expect(shown(first)).toEqual(shownAtFirst);
    expect(results(second)).toEqual([
      { type: "text", value: "5" },
      { type: "error-text", value: "Error executing fail: the disk is full" },
    ]);
    expect(results(third)).toEqual([{ type: "error-text", value: "Tool not available: add" }]);
    expect(shown(third)).toEqual(shownWithoutAdd);
  });

  test("shows the model a tool that is enabled or registered in mid-run", async () => {
    const { registry } = createScenario();
    const late = defineTool({
      name: "late",
      description: "Late.",
      parameters: { type: "object" },
      execute: () => "late",
    });
    const model = scripted([
      () => {
        registry.enable("spare");
        registry.register(late);
        return [["add", '{"a":1,"b":1}']];
      },
      () => [["late", "{}"]],
    ]);
    await generateText({ model, prompt: "go", tools: toAiSdkTools(registry), stopWhen: isStepCount(5) });
    expect(shown(model.doGenerateCalls[1])).toEqual([...shownAtFirst, "spare", "late"]);
    expect(results(model.doGenerateCalls[2])).toEqual([{ type: "text", value: "late" }]);
  });

  test("works with streamText", async () => {
    const { registry } = createScenario();
    let at = 0;
    const model = new MockLanguageModelV4({
      doStream: async () => {
        const { content, finishReason } = reply(at++ === 0 ? [["add", '{"a":1,"b":"1"}']] : []);
        const chunks = content.flatMap((part): StreamPart[] => {
          if (part.type === "tool-call") return [part];
          if (part.type !== "text") return [];
          const [id, delta] = ["1", part.text];
          return [
            { type: "text-start", id },
            { type: "text-delta", id, delta },
            { type: "text-end", id },
          ];
        });
        chunks.push({ type: "finish", finishReason, usage });
        return { stream: simulateReadableStream({ chunks, chunkDelayInMs: null }) };
      },
    });
    const result = streamText({ model, prompt: "go", tools: toAiSdkTools(registry), stopWhen: isStepCount(5) });
    expect(await result.text).toBe("done");
    expect(results(model.doStreamCalls[1])).toEqual([{ type: "text", value: "2" }]);
  });

  test("hands an image on as a file of the result", async () => {
    const { registry } = createScenario();
    const model = scripted([() => [["picture", "{}"]]]);
    await generateText({ model, prompt: "go", tools: toAiSdkTools(registry), stopWhen: isStepCount(5) });
    const image = { type: "file", data: { type: "data", data: pixel }, mediaType: "image/png" };
    expect(results(model.doGenerateCalls[1])).toMatchObject([
      { type: "content", value: [{ type: "text", text: "a dot" }, image] },
    ]);
  });

  test("ends a running tool when the caller aborts", async () => {
    const { registry, held, released } = createScenario();
    const abort = new AbortController();
    const model = scripted([() => [["hold", "{}"]]]);
    const run = generateText({
      model,
      prompt: "go",
      tools: toAiSdkTools(registry),
      stopWhen: isStepCount(5),
      abortSignal: abort.signal,
    });
    await held;
    abort.abort(new Error("enough"));
    await expect(run).rejects.toThrow("enough");
    expect(await released).toMatchObject({ message: "enough" });
  });

  test("passes middleware with the loop's call id, the caller's labels and time limit", async () => {
    const { registry } = createScenario();
    const seen: unknown[] = [];
    registry.use((call, next) => {
      seen.push([call.callId, call.labels]);
      return next();
    });
    const model = scripted([() => [["hold", "{}"]]]);
    const tools = toAiSdkTools(registry, { labels: { chat: 7 }, timeoutMs: 10 });
    await generateText({ model, prompt: "go", tools, stopWhen: isStepCount(5) });
    expect(seen).toEqual([["hold-0", { chat: 7 }]]);
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
