import type { Remedy } from "../../messages.ts";
import type { ModelRules } from "./modelRules.ts";
import { modelRules } from "./models.ts";
import { alternatives } from "./settings.ts";

interface RefusedSetting {
  readonly name: string;
  /** Words that the message of the service holds. */
  readonly words: RegExp;
  advice(model: string, rules: ModelRules | undefined): Remedy["advice"];
}

const asReasoning = { option: "reasoning" } as const;

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
