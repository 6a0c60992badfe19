/**
 * The fields that the model services take, by model. Read on 2026-11-20 from platform.claude.com/docs/en, developers.openai.com/api/docs and the types of
 * @anthropic-ai/sdk 1.12.0 and openai 7.57.0. The agent has a table of its own: this one must not be made from it.
 */

/** A model of Anthropic. */
export interface MessagesRules {
  readonly thinking: readonly string[];
  readonly thinksByDefault: boolean;
  /** Empty: the model has no effort. */
  readonly efforts: readonly string[];
  readonly forcesTools: boolean;
  readonly takesSampling: boolean;
  readonly takesPrefill: boolean;
  /** Compares what stands before each thinking block, and takes system messages and tool changes between messages. */
  readonly isAppendOnly: boolean;
  readonly showsThinking: boolean;
  readonly mostOutput: number;
  readonly mostPictures: number;
  readonly leastCached: number;
  /** The models whose thinking it can read. */
  readonly reads: RegExp;
  readonly price: Price;
}

/** Dollars for a million tokens. Above `tier.above` input tokens all of a request is charged at those rates. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly read: number;
  readonly write: number;
  readonly write1h?: number;
  readonly tier?: Price & { readonly above: number };
}

const allEfforts = ["low", "medium", "high", "xhigh", "max"] as const;

const latest = {
  thinksByDefault: true,
  efforts: allEfforts,
  forcesTools: false,
  takesSampling: false,
  takesPrefill: false,
  isAppendOnly: true,
  showsThinking: false,
  mostOutput: 128_000,
  mostPictures: 600,
  leastCached: 512,
} as const;

const messagesModels: Readonly<Record<string, MessagesRules>> = {
  "claude-sonnet-5-5": {
    ...latest,
    thinking: ["adaptive", "between_tools"],
    reads: /sonnet-5-5|haiku-5-5/,
    price: { input: 2, output: 10, write: 2.5, write1h: 4, read: 0.1 },
  },
  "claude-opus-5-5": {
    ...latest,
    thinking: ["adaptive"],
    reads: /opus|haiku|sonnet-[34]|sonnet-5$/,
    price: { input: 4, output: 20, write: 5, write1h: 8, read: 0.2 },
  },
  "claude-haiku-5-5": {
    ...latest,
    thinking: ["adaptive", "disabled"],
    forcesTools: true,
    reads: /haiku-5-5/,
    price: {
      ...{ input: 0.1, output: 0.5, write: 0.125, write1h: 0.2, read: 0.01 },
      tier: { above: 100_000, input: 0.5, output: 2.5, write: 0.625, write1h: 1, read: 0.05 },
    },
  },
  "claude-haiku-4-5": {
    thinking: ["enabled", "disabled"],
    thinksByDefault: false,
    efforts: [],
    forcesTools: true,
    takesSampling: true,
    takesPrefill: true,
    isAppendOnly: false,
    showsThinking: true,
    mostOutput: 64_000,
    mostPictures: 100,
    leastCached: 4096,
    reads: /haiku/,
    price: { input: 1, output: 5, write: 1.25, write1h: 2, read: 0.1 },
  },
};

/** The rules of a model; for names not in the table those of the default model, Sonnet 5.5. */
export function messagesRules(model: unknown): MessagesRules {
  return ruleOf(messagesModels, model) ?? (messagesModels["claude-sonnet-5-5"] as MessagesRules);
}

/** A model of OpenAI. */
export interface ResponsesRules {
  readonly efforts: readonly string[];
  /** Tools in chat completions: never, only without reasoning, or not said. */
  readonly chatTools: "never" | "without reasoning" | "not said";
  readonly price: Price;
}

/** Above 272,000 tokens input and cache cost twice as much, output one and a half times. */
function openaiPrice(input: number, read: number): Price {
  const base = { input, output: input * 5, write: input * 1.25, read };
  const tier = { above: 272_000, input: input * 2, output: input * 7.5, write: input * 2.5, read: read * 2 };
  return { ...base, tier };
}

const responsesModels: Readonly<Record<string, ResponsesRules>> = {
  "gpt-6-astra": { efforts: allEfforts, chatTools: "never", price: openaiPrice(10, 1) },
  "gpt-6.1-sol": { efforts: allEfforts, chatTools: "never", price: openaiPrice(2, 0.1) },
  "gpt-6.1-terra": { efforts: ["none", ...allEfforts], chatTools: "not said", price: openaiPrice(1, 0.05) },
  "gpt-6-sol": { efforts: ["none", ...allEfforts], chatTools: "without reasoning", price: openaiPrice(2, 0.2) },
  "gpt-6-luna": { efforts: ["none", ...allEfforts], chatTools: "without reasoning", price: openaiPrice(0.1, 0.01) },
};

/** The rules of a model; for names not in the table those of the default model, GPT-6.1 Terra. */
export function responsesRules(model: unknown): ResponsesRules {
  return ruleOf(responsesModels, model) ?? (responsesModels["gpt-6.1-terra"] as ResponsesRules);
}

/** OpenRouter writes `anthropic/claude-sonnet-5.5` for `claude-sonnet-5-5`. */
function ruleOf<Rules>(table: Readonly<Record<string, Rules>>, model: unknown): Rules | undefined {
  const plain = String(model).replace(/^.*\//, "");
  const own = plain.startsWith("claude") ? plain.replaceAll(".", "-") : plain;
  const name = Object.keys(table).find((known) => own === known || own.startsWith(`${known}-`));
  return name === undefined ? undefined : table[name];
}

/** Features of the Messages API that a request names in `anthropic-beta`. */
export const betas = {
  binding: "thinking-binding-controls-2026-08-01",
  clearAt: "mid-conversation-system-clear-at-2026-08-21",
  toolChanges: "mid-conversation-tool-changes-2026-07-01",
  inlineTools: "inline-tools-2026-09-15",
  effort: "mid-conversation-output-config-2026-07-01",
  updates: "thinking-display-updates-2026-08-18",
  compact: "compact-2026-09-04",
  compactByThreshold: "compact-2026-01-12",
  contextManagement: "context-management-2025-06-27",
  /** Not needed any more, and still sent by clients. */
  structuredOutputs: "structured-outputs-2025-11-13",
} as const;
