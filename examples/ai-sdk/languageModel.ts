import type { LanguageModel } from "ai";

/** The model whose key is in the environment. Each import loads the provider of that service alone. */
export async function modelFromEnvironment(): Promise<LanguageModel> {
  const { OPENAI_API_KEY, ANTHROPIC_API_KEY, OPENROUTER_API_KEY } = process.env;
  if (OPENAI_API_KEY) return (await import("@ai-sdk/openai")).openai("gpt-6-luna");
  if (ANTHROPIC_API_KEY) return (await import("@ai-sdk/anthropic")).anthropic("claude-haiku-5-5");
  if (OPENROUTER_API_KEY) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    const baseURL = "https://openrouter.ai/api/v1";
    return createOpenAI({ name: "openrouter", apiKey: OPENROUTER_API_KEY, baseURL }).chat("openrouter/auto");
  }
  throw new Error("No model: set OPENAI_API_KEY, ANTHROPIC_API_KEY or OPENROUTER_API_KEY.");
}
