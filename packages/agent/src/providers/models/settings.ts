import { AgentError, advised, invalidOption } from "../../errors.ts";
import type { Remedy } from "../../messages.ts";
import type { ToolChoice } from "../../provider.ts";
import type { ModelRules, ReasoningEffort } from "./modelRules.ts";
import { modelRules } from "./models.ts";

/** The options of a provider that the rules of its model speak of. */
export interface Settings {
  readonly model: string;
  readonly maxTokens?: number | undefined;
  readonly reasoning?: ReasoningEffort | undefined;
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
}

const samplingFields = ["temperature", "top_p", "top_k", "top_logprobs"] as const;

/** Throws `invalid_option` for a setting that the service would refuse, and says what the model takes. */
export function checkSettings({ model, maxTokens, reasoning, extraBody = {} }: Settings, rules: ModelRules): void {
  const { efforts, budgets } = rules.reasoning;
  if (reasoning !== undefined && !efforts.includes(reasoning)) {
    const problem = `${model} does not accept reasoning ${JSON.stringify(reasoning)}${whyNot(reasoning, rules)}.`;
    const instead =
      efforts.length === 0 ? ["Leave ", asReasoning, " out."] : ["Set ", asReasoning, ` to ${alternatives(efforts)}.`];
    throw new AgentError({ code: "invalid_option", ...advised(problem, instead) });
  }
  if (maxTokens !== undefined && maxTokens > rules.output)
    throw invalidOption(`maxTokens is ${maxTokens}, but a reply of ${model} has at most ${rules.output} tokens.`);
  const budget = reasoning && budgets?.[reasoning];
  if (budget !== undefined && maxTokens !== undefined && maxTokens <= budget)
    throw invalidOption(`reasoning "${reasoning}" of ${model} needs maxTokens above ${budget}, received ${maxTokens}.`);
  const isFree = rules.sampling === "always" || (rules.sampling === "without-thinking" && !thinks(rules, reasoning));
  const isDefault = (name: string): boolean =>
    rules.sampling === "never" && name === "temperature" && extraBody[name] === 1;
  const field = samplingFields.find((name) => extraBody[name] !== undefined && !isDefault(name));
  if (!isFree && field !== undefined) {
    const unless =
      rules.sampling === "without-thinking" && efforts.includes("none") ? ' unless reasoning is "none"' : "";
    throw invalidOption(`${model} does not accept ${field}${unless}; remove it from extraBody.`);
  }
}

const asReasoning = { option: "reasoning" } as const;

function whyNot(reasoning: ReasoningEffort, { reasoning: { efforts } }: ModelRules): string {
  if (efforts.length === 0) return ": it does not reason";
  return reasoning === "none" ? ": it always thinks" : "";
}

/** Returns the choice as the model takes it. Where a tool cannot be forced, the message has to ask for the call. */
export function acceptedToolChoice(choice: ToolChoice, canForce: boolean): ToolChoice {
  return canForce || choice === "none" ? choice : "auto";
}

export function canForce(rules: ModelRules | undefined, reasoning: ReasoningEffort | undefined): boolean {
  if (rules === undefined || rules.forcing === "always") return true;
  return rules.forcing === "without-thinking" && !thinks(rules, reasoning);
}

function thinks({ reasoning: { default: usual } }: ModelRules, reasoning: ReasoningEffort | undefined): boolean {
  const effort = reasoning ?? usual;
  return effort !== undefined && effort !== "none";
}

/** Joins words as `a, b or c`. */
function alternatives(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

interface RefusedSetting {
  readonly name: string;
  /** Words that the message of the service holds. */
  readonly words: RegExp;
  advice(model: string, rules: ModelRules | undefined): Remedy["advice"];
}

/** The settings that services name when they refuse a request, the narrower first. */
const settings: readonly RefusedSetting[] = [
  {
    name: "newest fields",
    words:
      /block_binding|anthropic-beta|\bbetas?\b.*header|extra inputs are not permitted|additional_tools|prompt_cache_options/i,
    advice: () => ["The address does not accept everything that the service accepts: set fullApi to false."],
  },
  {
    name: "tool choice",
    words: /tool[_ ]choice/i,
    advice: (model) => [
      `${model} cannot be made to call a tool: leave toolChoice out, and ask for the call in the message.`,
    ],
  },
  {
    name: "effort",
    words: /\beffort\b|reasoning_effort/i,
    advice: (_model, rules) => setReasoning(rules),
  },
  {
    name: "thinking",
    words: /thinking[._](?:type|budget)|budget_tokens|adaptive thinking|between_tools|reasoning is (?:not|mandatory)/i,
    advice: (_model, rules) => setReasoning(rules),
  },
  {
    name: "sampling",
    words: /\btemperature\b|\btop_[pk]\b|top_logprobs/i,
    advice: (model) => [`${model} does not accept temperature, top_p and top_k: remove them from extraBody.`],
  },
  {
    name: "length of replies",
    words: /max_(?:completion_|output_)?tokens/i,
    advice: (_model, rules) => [rules ? `Set maxTokens to ${rules.output} or less.` : "Set maxTokens to less."],
  },
  {
    name: "pictures",
    words: /image (?:dimensions|exceeds)|image_dimensions_too_large|many-image/i,
    advice: (_model, rules) => {
      const { side, many } = rules?.pictures ?? {};
      const limit = many
        ? ` Up to ${many.count} in a conversation may have ${side} pixels a side, more of them ${many.side}.`
        : "";
      return [`Start a new conversation with smaller pictures.${limit}`];
    },
  },
];

function setReasoning(rules: ModelRules | undefined): Remedy["advice"] {
  const efforts = rules?.reasoning.efforts ?? [];
  if (efforts.length === 0) return ["Leave ", asReasoning, " out, or set it to another effort."];
  return ["Set ", asReasoning, ` to ${alternatives(efforts)}, or leave it out.`];
}

/** Returns the setting that a service refuses by name, and what to change; undefined where its message names none. */
export function refusedSetting(
  message: string,
  model: { readonly name: string; readonly model: string },
): { readonly name: string; readonly advice: Remedy["advice"] } | undefined {
  const found = settings.find(({ words }) => words.test(message));
  return found && { name: found.name, advice: found.advice(model.model, modelRules(model)) };
}
