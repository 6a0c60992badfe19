/** The model's reasoning effort. The table of models says which words each takes. */
export type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** The time for which a service keeps the beginning of a conversation, each use counted anew. */
export type CacheTtl = "5m" | "1h";

/** Dollars per million tokens. A rate that is absent is unknown, never zero. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  /** A write that lasts for the usual time: 5 minutes at Anthropic. */
  readonly cacheWrite?: number;
  /** A write that lasts for an hour. */
  readonly cacheWriteHour?: number;
  /** A request with more input tokens than this, cached ones included, costs these times as much, all of it. */
  readonly above?: { readonly inputTokens: number; readonly inputTimes: number; readonly outputTimes: number };
}

/** The abilities, refusals and prices of a model, as its service states them. */
export interface ModelRules {
  /** The model's name; of a family what its names begin with. */
  readonly name: string;
  readonly isFamily?: true;
  /** Set on the newest model of a line: unknown names with this word have its rules. */
  readonly line?: string;
  /** Tokens of the whole conversation, and of one reply. */
  readonly context: number;
  readonly output: number;
  readonly reasoning: {
    /** The words that `reasoning` may be, `none` among them where thinking can be off. */
    readonly efforts: readonly ReasoningEffort[];
    /** The value that holds without the setting. */
    readonly default: ReasoningEffort | undefined;
    /** The values that Anthropic's `thinking.type` may have. */
    readonly types?: readonly ThinkingType[];
    /** The value that Anthropic's `thinking.display` has to have, or the model says nothing between calls. */
    readonly display?: "updates" | "summarized";
    /** Thinking tokens of each effort, where the service takes a number instead. */
    readonly budgets?: Readonly<Partial<Record<ReasoningEffort, number>>>;
  };
  /** True if a tool may be forced: `tool_choice` of the kinds `any`, `tool`, `required`. */
  readonly forcing: "always" | "without-thinking" | "never";
  /** True if `temperature`, `top_p` and `top_k` may be other than their default. */
  readonly sampling: "always" | "without-thinking" | "never";
  /** True if thinking that goes back is refused when something before it has changed. */
  readonly bindsThinking: boolean;
  /** The parts that may change within a conversation without being sent differently. */
  readonly changes: {
    readonly systemMessages: boolean;
    readonly tools: boolean;
    /** Tools outside the prompt until they are searched for. */
    readonly deferredTools: boolean;
  };
  /** True if the service makes an answer by a schema beside tools. */
  readonly answerFormat: boolean;
  readonly pictures?: PictureLimits;
  readonly price?: ModelPrice;
  /** The date and page on which this was read last. */
  readonly checkedOn: string;
  readonly source: string;
  /** `likely`: in part by those who quote the service's page. */
  readonly confidence: "sure" | "likely";
}

export type ThinkingType = "adaptive" | "between_tools" | "enabled" | "disabled";

export interface PictureLimits {
  /** Bytes of one picture as base64. */
  readonly bytes: number;
  /** The same of all pictures of a request: what its own limit leaves beside the text of a full context. */
  readonly total: number;
  /** Pictures in a request, all turns and results counted. */
  readonly count: number;
  /** Pixels of the longer side. */
  readonly side: number;
  /** The same for all pictures of a request with more than `many.count`. */
  readonly many: { readonly count: number; readonly side: number };
}
