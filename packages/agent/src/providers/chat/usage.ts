import { isObject } from "@toolcrib/core/text";
import type { Usage } from "../../messages.ts";

/** Converts a server's usage. `prompt_tokens` includes cached ones, which OpenAI, DeepSeek, Kimi and LiteLLM put elsewhere; dollars for `cost`. */
export function toUsage(usage: Record<string, unknown>): Usage {
  const { prompt_tokens_details: input, completion_tokens_details: output, cost } = usage;
  const ofInput = isObject(input) ? input : {};
  return {
    inputTokens: first(usage.prompt_tokens),
    outputTokens: first(usage.completion_tokens),
    cacheReadTokens: first(
      ofInput.cached_tokens,
      usage.prompt_cache_hit_tokens,
      usage.cached_tokens,
      usage.cache_read_input_tokens,
    ),
    cacheWriteTokens: first(
      ofInput.cache_write_tokens,
      ofInput.cache_creation_tokens,
      usage.cache_creation_input_tokens,
    ),
    reasoningTokens: first(isObject(output) ? output.reasoning_tokens : undefined),
    ...(typeof cost === "number" && { cost }),
  };
}

function first(...counts: readonly unknown[]): number {
  return counts.find((count): count is number => typeof count === "number") ?? 0;
}

/** Returns the usage after one more report. Servers repeat it, some with zeros before or behind the true one. */
export function laterUsage(before: Usage | undefined, report: unknown): Usage | undefined {
  if (!isObject(report)) return before;
  const usage = toUsage(report);
  return before && usage.inputTokens + usage.outputTokens === 0 ? before : usage;
}
