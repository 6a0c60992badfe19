import type { JsonSchema } from "@toolcrib/core";
import type { ResponseCreateParams } from "openai/resources/responses/responses";
import { toAnswerFormat } from "../models/answerFormat.ts";
import type { ModelRules } from "../models/modelRules.ts";
import { checkSettings, type Settings } from "../models/settings.ts";

/** Returns the format of an answer, where one is asked for and the service takes it. */
export function toText(answerSchema: JsonSchema | undefined): Pick<ResponseCreateParams, "text"> {
  const format = answerSchema && toAnswerFormat(answerSchema);
  return format ? { text: { format: { type: "json_schema", name: "answer", ...format } } } : {};
}

/**
 * Returns the fields of a request that follow from the settings; without rules nothing is known of the model. Throws `invalid_option` for a
 * setting that it would refuse.
 */
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
