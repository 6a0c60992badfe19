import type { ResponseCreateParams } from "openai/resources/responses/responses";
import type { ModelRules } from "../models/modelRules.ts";
import { checkSettings, type Settings } from "../models/settings.ts";

/** Returns the fields that settings become; without rules nothing is known of the model. Throws `invalid_option` for what it refuses. */
export function openaiFields(
  settings: Settings,
  rules: ModelRules | undefined,
): Pick<ResponseCreateParams, "max_output_tokens" | "reasoning"> {
  if (rules) checkSettings(settings, rules);
  const { maxTokens, reasoning } = settings;
  return {
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(reasoning !== undefined && {
      reasoning: { effort: reasoning, ...(reasoning !== "none" && { summary: "auto" }) },
    }),
  };
}
