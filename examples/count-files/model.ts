import type { Provider } from "@toolcrib/agent";

/** The model whose key is in the environment. Each import loads the SDK of that service alone. */
export async function modelFromEnvironment(): Promise<Provider> {
  if (process.env.OPENAI_API_KEY) {
    const { OpenAIProvider } = await import("@toolcrib/agent/openai");
    return new OpenAIProvider();
  }
  if (process.env.ANTHROPIC_API_KEY) {
    const { AnthropicProvider } = await import("@toolcrib/agent/anthropic");
    return new AnthropicProvider();
  }
  if (process.env.OPENROUTER_API_KEY) {
    const { OpenRouterProvider } = await import("@toolcrib/agent/openrouter");
    return new OpenRouterProvider();
  }
  throw new Error("No model: set OPENAI_API_KEY, ANTHROPIC_API_KEY or OPENROUTER_API_KEY.");
}
