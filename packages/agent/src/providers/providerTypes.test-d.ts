import type Anthropic from "@anthropic-ai/sdk";
import type { ChatTool, ExecutableTool, toAnthropicTool, toOpenAIResponsesTool } from "@toolcrib/core";
import type Anthropic0 from "anthropic-sdk-0";
import type OpenAI from "openai";
import type { AzureOpenAI } from "openai";
import type OpenAI6 from "openai-6";
import { expectTypeOf, test } from "vitest";
import type { AnthropicProviderOptions } from "./anthropic/anthropic.ts";
import type { OpenRouterProviderOptions } from "./chat/openrouter.ts";
import type { OpenAIProviderOptions } from "./openai/openai.ts";

test("the openai SDK accepts what getSchema returns", () => {
  expectTypeOf<ReturnType<ExecutableTool["getSchema"]>>().toExtend<OpenAI.Chat.Completions.ChatCompletionTool>();
  expectTypeOf<ChatTool[]>().toExtend<NonNullable<OpenAI.Chat.Completions.ChatCompletionCreateParams["tools"]>>();
});

test("both SDKs accept the mapped tools", () => {
  expectTypeOf<typeof toOpenAIResponsesTool>().returns.toExtend<OpenAI.Responses.Tool>();
  expectTypeOf<typeof toAnthropicTool>().returns.toExtend<Anthropic.ToolUnion>();
});

test("a client of each SDK is a client of its provider", () => {
  expectTypeOf<OpenAI>().toExtend<NonNullable<OpenAIProviderOptions["client"]>>();
  expectTypeOf<AzureOpenAI>().toExtend<NonNullable<OpenAIProviderOptions["client"]>>();
  expectTypeOf<OpenAI>().toExtend<NonNullable<OpenRouterProviderOptions["client"]>>();
  expectTypeOf<Anthropic>().toExtend<NonNullable<AnthropicProviderOptions["client"]>>();
  expectTypeOf<Anthropic>().not.toExtend<NonNullable<OpenAIProviderOptions["client"]>>();
});

test("clients of the oldest versions in the peer ranges are clients too", () => {
  expectTypeOf<OpenAI6>().toExtend<NonNullable<OpenAIProviderOptions["client"]>>();
  expectTypeOf<OpenAI6>().toExtend<NonNullable<OpenRouterProviderOptions["client"]>>();
  expectTypeOf<Anthropic0>().toExtend<NonNullable<AnthropicProviderOptions["client"]>>();
});
