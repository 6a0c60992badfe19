/** Lists the ways to a language model, for a user who has none. */
export const waysToConnect: readonly string[] = [
  "set OPENAI_API_KEY, ANTHROPIC_API_KEY or OPENROUTER_API_KEY",
  "start a model server on this machine (Ollama, LM Studio, llama.cpp)",
  "name a model with -m provider/model",
];

/** The first two, a line each, for a conversation that has none. */
export const linesToConnect: string = waysToConnect
  .slice(0, 2)
  .map((way) => `  ${way}`)
  .join("\n");
