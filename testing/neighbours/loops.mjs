// The loops that show a registry's tools to a model: our providers and our adapters, each over its real SDK, at a stand-in for the
// services. All run the calls of the first reply and end with the second.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { ChatOpenAI } from "@langchain/openai";
import * as agents from "@openai/agents";
import { toAiSdkTools } from "@toolcrib/adapters/ai-sdk";
import { toAnthropicTools } from "@toolcrib/adapters/anthropic";
import { runGeminiFunctionCalls, toGeminiTool } from "@toolcrib/adapters/gemini";
import { registryMiddleware, toLangChainTools } from "@toolcrib/adapters/langchain";
import { runOpenAIResponsesCalls, toOpenAIResponsesTools, toOpenAITools } from "@toolcrib/adapters/openai";
import { toOpenAIAgentsTools } from "@toolcrib/adapters/openai-agents";
import { Agent } from "@toolcrib/agent";
import { fromAiSdkModel } from "@toolcrib/agent/ai-sdk";
import { AnthropicProvider } from "@toolcrib/agent/anthropic";
import { OpenAIProvider } from "@toolcrib/agent/openai";
import { OpenAICompatibleProvider } from "@toolcrib/agent/openai-compatible";
import { OpenRouterProvider } from "@toolcrib/agent/openrouter";
import { generateText, isStepCount } from "ai";
import { createAgent } from "langchain";
import OpenAI from "openai";

agents.setTracingDisabled(true);
globalThis.AI_SDK_LOG_WARNINGS = false;
const apiKey = "sk-neighbours";
const openaiModel = "gpt-6-luna";
/** Newer ones take tools over Responses alone. */
const chatModel = "gpt-4.1";
const anthropicModel = "claude-sonnet-5-5";
const prompt = "Look.";
const messages = [{ role: "user", content: prompt }];

const runAgent = (tools, provider) => new Agent(provider, { tools, attempts: 1 }).chat(prompt);
const runAiSdk = (registry, model) =>
  generateText({ model, tools: toAiSdkTools(registry), prompt, stopWhen: isStepCount(3), maxRetries: 0 });

const langchainModel = (model, baseURL, useResponsesApi) =>
  new ChatOpenAI({ apiKey, model, useResponsesApi, maxRetries: 0, configuration: { baseURL } });

/** `[name, wire, run]`; the wire is `any` where the SDK chooses one of several by the model. `url` is the stand-in's, with and without the path of OpenAI's wires. */
export const loops = [
  ["OpenAIProvider", "responses", (tools, { v1 }) => runAgent(tools, new OpenAIProvider({ apiKey, baseURL: v1 }))],
  [
    "AnthropicProvider",
    "messages",
    (tools, { url }) => runAgent(tools, new AnthropicProvider({ apiKey, baseURL: url })),
  ],
  ["OpenRouterProvider", "chat", (tools, { v1 }) => runAgent(tools, new OpenRouterProvider({ apiKey, baseURL: v1 }))],
  [
    "OpenAICompatibleProvider",
    "chat",
    (tools, { v1 }) => runAgent(tools, new OpenAICompatibleProvider({ apiKey, baseURL: v1, model: "m" })),
  ],
  [
    "fromAiSdkModel",
    "any",
    (tools, { v1 }) => runAgent(tools, fromAiSdkModel(createOpenAI({ apiKey, baseURL: v1 })(openaiModel))),
  ],
  [
    "toOpenAITools",
    "chat",
    (tools, { v1 }) =>
      new OpenAI({ apiKey, baseURL: v1, maxRetries: 0 }).chat.completions
        .runTools({ model: chatModel, messages, tools: toOpenAITools(tools) })
        .done(),
  ],
  ["toOpenAIResponsesTools", "responses", runResponses],
  [
    "toAnthropicTools",
    "messages",
    async (registry, { url }) => {
      const { beta } = new Anthropic({ apiKey, baseURL: url, maxRetries: 0 });
      const tools = toAnthropicTools(registry);
      await beta.messages.toolRunner({ model: anthropicModel, max_tokens: 1000, messages, tools, thread: false });
    },
  ],
  [
    "toAiSdkTools, OpenAI",
    "any",
    (tools, { v1 }) => runAiSdk(tools, createOpenAI({ apiKey, baseURL: v1 })(openaiModel)),
  ],
  [
    "toAiSdkTools, Anthropic",
    "any",
    (tools, { v1 }) => runAiSdk(tools, createAnthropic({ apiKey, baseURL: v1 })(anthropicModel)),
  ],
  [
    "toLangChainTools",
    "any",
    (registry, { v1 }) => {
      const model = langchainModel(openaiModel, v1, true);
      return createAgent({ model, tools: toLangChainTools(registry) }).invoke({ messages });
    },
  ],
  [
    "registryMiddleware",
    "any",
    (registry, { v1 }) => {
      const model = langchainModel(chatModel, v1, false);
      return createAgent({ model, middleware: [registryMiddleware(registry)] }).invoke({ messages });
    },
  ],
  [
    "toOpenAIAgentsTools",
    "responses",
    (registry, { v1 }) => {
      const modelProvider = new agents.OpenAIProvider({ apiKey, baseURL: v1, useResponses: true });
      const agent = new agents.Agent({ name: "clerk", model: openaiModel, tools: toOpenAIAgentsTools(registry) });
      return new agents.Runner({ modelProvider }).run(agent, prompt);
    },
  ],
];

async function runResponses(registry, { v1 }) {
  const client = new OpenAI({ apiKey, baseURL: v1, maxRetries: 0 });
  const tools = toOpenAIResponsesTools(registry);
  const input = [...messages];
  for (;;) {
    const { output } = await client.responses.create({ model: openaiModel, input, tools });
    const results = await runOpenAIResponsesCalls(registry, output);
    if (results.length === 0) return;
    input.push(...output, ...results);
  }
}

/** Gemini's adapter, whose wire the stand-in does not speak: the definitions, and the parts that answer the calls. */
export async function runGemini(registry, calls) {
  const { functionDeclarations } = toGeminiTool(registry);
  const asked = calls.map(({ name, args }, index) => ({ id: String(index), name, args: JSON.parse(args) }));
  return { definitions: functionDeclarations, parts: await runGeminiFunctionCalls(registry, asked) };
}
