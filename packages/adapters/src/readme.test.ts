import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { runInThisContext } from "node:vm";
import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import type { ToolRegistry } from "@toolcrib/core";
import { MockLanguageModelV4 } from "ai/test";
import { afterEach, expect, test, vi } from "vitest";
import { createScenario, serveScript } from "../testing/scenario.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

const modules: Record<string, () => Promise<Record<string, unknown>>> = {
  "@anthropic-ai/sdk": () => import("@anthropic-ai/sdk"),
  "@google/genai": () => import("@google/genai"),
  "@openai/agents": () => import("@openai/agents"),
  "@toolcrib/adapters/ai-sdk": () => import("./aiSdk.ts"),
  "@toolcrib/adapters/anthropic": () => import("./anthropic.ts"),
  "@toolcrib/adapters/gemini": () => import("./gemini.ts"),
  "@toolcrib/adapters/langchain": () => import("./langchain.ts"),
  "@toolcrib/adapters/openai": () => import("./openai.ts"),
  "@toolcrib/adapters/openai-agents": () => import("./openaiAgents.ts"),
  ai: () => import("ai"),
  langchain: () => import("langchain"),
  openai: () => import("openai"),
  "openai/lib/responses/ResponseInputItems": () => import("openai/lib/responses/ResponseInputItems"),
};

type Run = (
  load: (name: string) => Promise<unknown>,
  registry: ToolRegistry,
  model: unknown,
  prompt: string,
) => unknown;

/** Runs the example that holds `mark`, and answers the variable `result` of it. */
async function runExample(mark: string, result: string, registry: ToolRegistry, model?: unknown): Promise<unknown> {
  const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].flatMap(([, code = ""]) =>
    code.includes(mark) ? [code] : [],
  );
  expect(examples).toHaveLength(1);
  const code = stripTypeScriptTypes(examples[0] ?? "").replace(
    /^import (.+) from (".+");$/gm,
    (_line, names: string, from: string) => {
      return `const ${names.startsWith("{") ? names : `{ default: ${names} }`} = await load(${from});`;
    },
  );
  const body = `(async (load, registry, model, prompt) => { ${code}\nreturn ${result}; })`;
  const run = runInThisContext(body, { filename: "README.md" }) as Run;
  return run(async (name) => modules[name]?.(), registry, model, "What is 2 + 3?");
}

const args = { a: "2", b: 3 };

afterEach(() => vi.unstubAllEnvs());

function scripted(): MockLanguageModelV4 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const call = { type: "tool-call" as const, toolCallId: "1", toolName: "add", input: JSON.stringify(args) };
  return new MockLanguageModelV4({
    doGenerate: [
      { content: [call], finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] },
      {
        content: [{ type: "text", text: "five" }],
        finishReason: { unified: "stop", raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
}

test("AI SDK", async () => {
  const model = scripted();
  expect(await runExample("const { text } = await generateText", "text", createScenario().registry, model)).toBe(
    "five",
  );
  expect(JSON.stringify(model.doGenerateCalls[1]?.prompt.at(-1))).toContain('"value":"5"');
});

test("AI SDK, with a question", async () => {
  const { registry } = createScenario();
  registry.guard(() => ({ ask: "Add?" }));
  const results = "[asked.text, answered.text, messages.length]";
  expect(await runExample("aiSdkToolApproval", results, registry, scripted())).toEqual(["", "five", 3]);
});

test("OpenAI Agents SDK", async () => {
  const { Usage, setTracingDisabled } = await import("@openai/agents");
  setTracingDisabled(true);
  const content = [{ type: "output_text", text: "five" }];
  const steps = [
    { type: "function_call", callId: "1", name: "add", arguments: JSON.stringify(args) },
    { type: "message", role: "assistant", status: "completed", content },
  ];
  const requests: unknown[] = [];
  const model = {
    getResponse: async (request: { input: unknown }) => {
      requests.push(request.input);
      return { usage: new Usage(), output: [steps[requests.length - 1]] };
    },
  };
  expect(await runExample("toOpenAIAgentsTools", "finalOutput", createScenario().registry, model)).toBe("five");
  expect(JSON.stringify(requests[1])).toContain('"text":"5"');
});

test("LangChain", async () => {
  const model = fakeModel()
    .respondWithTools([{ name: "add", args }])
    .respond(new AIMessage("five"));
  const result = "messages.slice(-2).map(({ text }) => text)";
  expect(await runExample("registryMiddleware", result, createScenario().registry, model)).toEqual(["5", "five"]);
});

test("Anthropic", async () => {
  const message = { type: "message", role: "assistant", usage: { input_tokens: 1, output_tokens: 1 } };
  await using server = await serveScript([
    () => ({ ...message, stop_reason: "tool_use", content: [{ type: "tool_use", id: "1", name: "add", input: args }] }),
    () => ({ ...message, stop_reason: "end_turn", content: [{ type: "text", text: "five" }] }),
  ]);
  vi.stubEnv("ANTHROPIC_API_KEY", "none");
  vi.stubEnv("ANTHROPIC_BASE_URL", server.url);
  const content = await runExample("toAnthropicTools", "content", createScenario().registry);
  expect(content).toMatchObject([{ text: "five" }]);
  expect(JSON.stringify(server.requests[1])).toContain('"content":"5"');
});

test("OpenAI runTools", async () => {
  const called = { name: "add", arguments: JSON.stringify(args) };
  const calling = { role: "assistant", content: null, tool_calls: [{ type: "function", id: "1", function: called }] };
  await using server = await serveScript([
    () => ({ choices: [{ index: 0, finish_reason: "tool_calls", message: calling }] }),
    () => ({ choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "five" } }] }),
  ]);
  vi.stubEnv("OPENAI_API_KEY", "none");
  vi.stubEnv("OPENAI_BASE_URL", server.url);
  expect(await runExample("toOpenAITools", "text", createScenario().registry)).toBe("five");
  expect(JSON.stringify(server.requests[1])).toContain('"content":"5"');
});

test("OpenAI Responses", async () => {
  const content = [{ type: "output_text", text: "five", annotations: [] }];
  const call = { type: "function_call", call_id: "1", name: "add", arguments: JSON.stringify(args) };
  await using server = await serveScript([
    () => ({ object: "response", output: [call] }),
    () => ({ object: "response", output: [{ type: "message", role: "assistant", content }] }),
  ]);
  vi.stubEnv("OPENAI_API_KEY", "none");
  vi.stubEnv("OPENAI_BASE_URL", server.url);
  const last = await runExample("toOpenAIResponsesTools", "input.at(-1)", createScenario().registry);
  expect(last).toMatchObject({ role: "assistant", content });
  expect(JSON.stringify(server.requests[1])).toContain('"output":"5"');
});

test("Gemini", async () => {
  const reply = (part: unknown) => () => ({ candidates: [{ content: { role: "model", parts: [part] } }] });
  await using server = await serveScript([reply({ functionCall: { name: "add", args } }), reply({ text: "five" })]);
  vi.stubEnv("GEMINI_API_KEY", "none");
  vi.stubEnv("GOOGLE_GEMINI_BASE_URL", server.url);
  expect(await runExample("toGeminiTool", "reply.text", createScenario().registry)).toBe("five");
  expect(JSON.stringify(server.requests[1])).toContain('"output":"5"');
});
