import { mostChatTools, type OptionSpecs, option } from "@toolcrib/core/internal";

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
  /** The most tools of a request: 128 at OpenAI, and `Infinity` where the server has no limit. */
  readonly mostTools: number;
  /** True if reasoning goes back in the field it came in. */
  readonly replayReasoning: boolean;
  /** The fields beside the standard ones that go back to the model that wrote them, in a message and in its calls. */
  readonly carriedFields: readonly string[];
  /** True if two messages of the user in a row go as one: templates of many models refuse two. */
  readonly joinUserMessages: boolean;
  /** True if an answer may be asked for by a schema (`response_format`) beside tools. */
  readonly answerFormat: boolean;
  /**
   * True if thinking within tags (`<think>`) in the text of a reply is thinking, and calls that a model writes as text at its end are calls:
   * outside code, whole, and of tools that were offered. Undefined: if the table of models says so.
   */
  readonly textCalls: boolean | undefined;
  /** Added to every request body. */
  readonly body: Readonly<Record<string, unknown>>;
}

export const compatSpecs: OptionSpecs<Compat> = {
  maxTokensField: option.text,
  effortField: option.text,
  streamUsage: option.flag,
  strictTools: option.flag,
  mostTools: option.positive,
  replayReasoning: option.flag,
  carriedFields: {
    expected: "a list of names of fields",
    fits: (value) => Array.isArray(value) && value.every((name) => typeof name === "string" && name !== ""),
  },
  joinUserMessages: option.flag,
  answerFormat: option.flag,
  textCalls: option.flag,
  body: option.object,
};

/** Ollama, llama.cpp, LM Studio, vLLM and most others. */
export const defaultCompat: Compat = Object.freeze({
  maxTokensField: "max_tokens",
  effortField: "reasoning_effort",
  streamUsage: true,
  strictTools: false,
  mostTools: mostChatTools,
  replayReasoning: true,
  // Gemini's signatures, without which it refuses every turn with a call.
  carriedFields: Object.freeze(["extra_content"]),
  joinUserMessages: true,
  answerFormat: false,
  textCalls: undefined,
  body: Object.freeze({}),
});

/** OpenRouter reports the cost of a reply on request. */
export const openRouterCompat: Compat = Object.freeze({
  ...defaultCompat,
  effortField: "reasoning",
  strictTools: true,
  body: Object.freeze({ usage: Object.freeze({ include: true }) }),
});
