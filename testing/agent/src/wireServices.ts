import type { Provider } from "@toolcrib/agent";
import { AnthropicProvider } from "@toolcrib/agent/anthropic";
import { OpenAIProvider } from "@toolcrib/agent/openai";
import { OpenAICompatibleProvider } from "@toolcrib/agent/openai-compatible";
import { OpenRouterProvider } from "@toolcrib/agent/openrouter";
import type { Account } from "@toolcrib/testing/wire/service";
import type { WireServer } from "@toolcrib/testing/wireServer";

/** A service, with an account at it, through which a feature is tried. */
export interface WireService {
  readonly title: string;
  readonly account: Partial<Account>;
  /** Takes changes of prompt and tools in mid-conversation, so that nothing before them changes. */
  readonly isAppended: boolean;
  /** Compares what stands before thinking. */
  readonly isChecked: boolean;
  connect(server: WireServer): Provider;
}

const apiKey = "sk-services-0123456789";
const anthropic = (model: string) => () => new AnthropicProvider({ apiKey, model });

/** At their own addresses, for which `routeServices` is needed, and at others. */
export const wireServices: readonly WireService[] = [
  { title: "Anthropic", account: {}, isAppended: true, isChecked: true, connect: anthropic("claude-sonnet-5-5") },
  {
    title: "Anthropic with an older account",
    account: { isEnforced: false },
    isAppended: true,
    isChecked: true,
    connect: anthropic("claude-opus-5-5"),
  },
  {
    title: "Anthropic's Haiku 5.5",
    account: {},
    isAppended: true,
    isChecked: true,
    connect: anthropic("claude-haiku-5-5"),
  },
  {
    title: "Anthropic's Haiku 4.5",
    account: {},
    isAppended: false,
    isChecked: false,
    connect: anthropic("claude-haiku-4-5"),
  },
  {
    title: "a gateway to Anthropic",
    account: { takesBetas: false },
    isAppended: false,
    isChecked: true,
    connect: ({ url }) => new AnthropicProvider({ apiKey, baseURL: url }),
  },
  { title: "OpenAI", account: {}, isAppended: true, isChecked: false, connect: () => new OpenAIProvider({ apiKey }) },
  {
    title: "Anthropic behind OpenRouter",
    account: {},
    isAppended: false,
    isChecked: true,
    connect: () => new OpenRouterProvider({ apiKey, model: "anthropic/claude-sonnet-5.5" }),
  },
  {
    title: "a server of chat completions",
    account: {},
    isAppended: false,
    isChecked: false,
    connect: ({ url }) => new OpenAICompatibleProvider({ baseURL: `${url}/v1`, model: "m" }),
  },
];

/** One of each way in which services differ; the others are asked in the long suites. */
export const everydayServices: readonly WireService[] = wireServices.filter(
  ({ title }) => !["Anthropic with an older account", "Anthropic's Haiku 5.5", "Anthropic's Haiku 4.5"].includes(title),
);
