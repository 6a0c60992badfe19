/** How to get a language model, for whoever has none. */
export const waysToConnect: readonly string[] = [
  "set OPENAI_API_KEY, ANTHROPIC_API_KEY or OPENROUTER_API_KEY",
  "start a model server on this machine (Ollama, LM Studio, llama.cpp)",
  "name a model with -m provider/model",
];
