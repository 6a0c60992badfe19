import type { CacheControlEphemeral, MessageCreateParamsBase } from "@anthropic-ai/sdk/resources/messages";
import type { JsonSchema } from "@toolcrib/core";
import { invalidOption } from "../../errors.ts";
import { toAnswerFormat } from "../models/answerFormat.ts";
import type { CacheTtl, ModelRules } from "../models/modelRules.ts";
import { canForce, checkSettings, type Settings } from "../models/settings.ts";

/** The wire requires a limit; every current model allows this one. */
const defaultMaxTokens = 32_000;

const displayUpdates = "thinking-display-updates-2026-08-18";

/** The part of its thinking that the model shows. `updates`: short notes on what it does between calls. */
export type ThinkingDisplay = "updates" | "summarized" | "omitted";

export interface AnthropicSettings extends Settings {
  readonly display?: ThinkingDisplay | undefined;
  readonly cacheTtl?: CacheTtl | undefined;
}

export interface AnthropicFields {
  readonly body: Pick<MessageCreateParamsBase, "max_tokens" | "thinking" | "output_config">;
  /** Every cache point of a request: a longer one may not follow a shorter one. */
  readonly cacheControl: CacheControlEphemeral;
  readonly betas: readonly string[];
  /** True if a tool may be forced. */
  readonly canForce: boolean;
  /** True if the text of thinking is what the model tells the user between calls. */
  readonly hasNotes: boolean;
}

/** Returns the fields that settings become. `isFull`: the address takes all of the API. Throws `invalid_option` for what the model refuses. */
export function anthropicFields(
  settings: AnthropicSettings,
  rules: ModelRules | undefined,
  isFull: boolean,
): AnthropicFields {
  const max_tokens = settings.maxTokens ?? Math.min(defaultMaxTokens, rules?.output ?? defaultMaxTokens);
  if (rules) checkSettings({ ...settings, maxTokens: max_tokens }, rules);
  const { reasoning } = settings;
  const plain = { betas: [], cacheControl: toCacheControl(settings.cacheTtl), canForce: canForce(rules, reasoning) };
  const { types = ["adaptive", "disabled"], budgets } = rules?.reasoning ?? {};
  if (reasoning === "none") {
    const type = types.includes("disabled") ? "disabled" : "between_tools";
    return { ...plain, body: { max_tokens, thinking: { type } }, hasNotes: type === "between_tools" };
  }
  const budget = reasoning && budgets?.[reasoning];
  if (budget !== undefined)
    return { ...plain, body: { max_tokens, thinking: { type: "enabled", budget_tokens: budget } }, hasNotes: false };
  const display = types.includes("adaptive") ? shownThinking(settings, rules, isFull) : undefined;
  const isAdaptive = reasoning !== undefined || display !== undefined;
  return {
    ...plain,
    body: {
      max_tokens,
      // The types of the SDK know `updates` in the beta namespace alone.
      ...(isAdaptive && { thinking: { type: "adaptive", ...(display && { display: display as "summarized" }) } }),
      ...(reasoning !== undefined && { output_config: { effort: reasoning === "minimal" ? "low" : reasoning } }),
    },
    betas: display === "updates" ? [displayUpdates] : [],
    hasNotes: display === "updates",
  };
}

/** Chooses what is shown of the thinking: as asked, else updates for a model that would be silent between calls. */
function shownThinking(
  { model, display, reasoning }: AnthropicSettings,
  rules: ModelRules | undefined,
  isFull: boolean,
): ThinkingDisplay | undefined {
  if (display === "updates" && rules && rules.reasoning.display !== "updates")
    throw invalidOption(`${model} shows no updates; set display to "summarized".`);
  if (display !== undefined) return display;
  if (isFull && rules?.reasoning.display) return rules.reasoning.display;
  return rules && reasoning !== undefined ? "summarized" : undefined;
}

function toCacheControl(ttl: CacheTtl = "5m"): CacheControlEphemeral {
  if (ttl !== "5m" && ttl !== "1h") throw invalidOption(`cacheTtl is "5m" or "1h", received ${JSON.stringify(ttl)}.`);
  return { type: "ephemeral", ...(ttl !== "5m" && { ttl }) };
}

/** Returns the settings of output with the format of an answer, where one is asked for and the service takes it. */
export function toOutputConfig(
  config: MessageCreateParamsBase["output_config"],
  answerSchema: JsonSchema | undefined,
): Pick<MessageCreateParamsBase, "output_config"> {
  const format = answerSchema && toAnswerFormat(answerSchema);
  return format ? { output_config: { ...config, format: { type: "json_schema", schema: format.schema } } } : {};
}

const betaHeader = "anthropic-beta";

/** Returns the header of betas, with those that the user's own headers name. */
export function betaHeaders(
  betas: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): { readonly headers?: Readonly<Record<string, string>> } {
  if (betas.length === 0) return {};
  const own = Object.entries(headers).flatMap(([name, value]) => (name.toLowerCase() === betaHeader ? [value] : []));
  return { headers: { [betaHeader]: [...own, ...betas].join(",") } };
}
