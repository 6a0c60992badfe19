import { type OptionSpecs, option } from "@toolcrib/core/internal";

/** The oddities of a server of chat completions, as data, so that a new server needs no new class. */
export interface Compat {
  /** The field that limits a reply. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** The field of the reasoning effort: `reasoning_effort: "high"` or `reasoning: { effort: "high" }`. */
  readonly effortField: "reasoning_effort" | "reasoning";
  /** True if `stream_options.include_usage` is understood; without it a stream reports no usage. */
  readonly streamUsage: boolean;
  /** True if a tool may carry `strict`. */
  readonly strictTools: boolean;
  /** True if reasoning goes back in the field it came in. */
  readonly replayReasoning: boolean;
  /** True if an answer may be asked for by a schema (`response_format`) beside tools. */
  readonly answerFormat: boolean;
  /** Added to every request body. */
  readonly body: Readonly<Record<string, unknown>>;
}

export const compatSpecs: OptionSpecs<Compat> = {
  maxTokensField: option.text,
  effortField: option.text,
  streamUsage: option.flag,
  strictTools: option.flag,
  replayReasoning: option.flag,
  answerFormat: option.flag,
  body: option.object,
};

/** Ollama, llama.cpp, LM Studio, vLLM and most others. */
export const defaultCompat: Compat = Object.freeze({
  maxTokensField: "max_tokens",
  effortField: "reasoning_effort",
  streamUsage: true,
  strictTools: false,
  replayReasoning: true,
  answerFormat: false,
  body: Object.freeze({}),
});

/** OpenRouter reports the cost of a reply on request. */
export const openRouterCompat: Compat = Object.freeze({
  ...defaultCompat,
  effortField: "reasoning",
  strictTools: true,
  body: Object.freeze({ usage: Object.freeze({ include: true }) }),
});
