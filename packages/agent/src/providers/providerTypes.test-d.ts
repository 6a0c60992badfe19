import type Anthropic from "@anthropic-ai/sdk";
import type { ChatTool, ExecutableTool } from "@toolcrib/core";
import type OpenAI from "openai";
import { expectTypeOf, test } from "vitest";
import type { AnthropicProviderOptions } from "./anthropic.ts";
import { toAnthropicTool } from "./anthropicMapping.ts";
import type { OpenAIProviderOptions } from "./openai.ts";
import { toResponsesTool } from "./openaiMapping.ts";

test("what getSchema returns is taken by the openai SDK as it is", () => {
  expectTypeOf<ReturnType<ExecutableTool["getSchema"]>>().toExtend<OpenAI.Chat.Completions.ChatCompletionTool>();
  expectTypeOf<ChatTool[]>().toExtend<NonNullable<OpenAI.Chat.Completions.ChatCompletionCreateParams["tools"]>>();
});

test("the mapped tools are taken by both SDKs", () => {
  expectTypeOf(toResponsesTool).returns.toExtend<OpenAI.Responses.Tool>();
  expectTypeOf(toAnthropicTool).returns.toExtend<Anthropic.ToolUnion>();
});

test("a client of each SDK is a client of its provider", () => {
  expectTypeOf<OpenAI>().toExtend<NonNullable<OpenAIProviderOptions["client"]>>();
  expectTypeOf<Anthropic>().toExtend<NonNullable<AnthropicProviderOptions["client"]>>();
});
