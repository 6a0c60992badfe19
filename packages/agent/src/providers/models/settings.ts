import { AgentError, advised } from "../../errors.ts";
import type { ToolChoice } from "../../provider.ts";
import type { ModelRules, ReasoningEffort } from "./modelRules.ts";

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
    throw invalid(`maxTokens is ${maxTokens}, but a reply of ${model} has at most ${rules.output} tokens.`);
  const budget = reasoning && budgets?.[reasoning];
  if (budget !== undefined && maxTokens !== undefined && maxTokens <= budget)
    throw invalid(`reasoning "${reasoning}" of ${model} needs maxTokens above ${budget}, received ${maxTokens}.`);
  const isFree = rules.sampling === "always" || (rules.sampling === "without-thinking" && !thinks(rules, reasoning));
  const isDefault = (name: string): boolean =>
    rules.sampling === "never" && name === "temperature" && extraBody[name] === 1;
  const field = samplingFields.find((name) => extraBody[name] !== undefined && !isDefault(name));
  if (!isFree && field !== undefined) {
    const unless =
      rules.sampling === "without-thinking" && efforts.includes("none") ? ' unless reasoning is "none"' : "";
    throw invalid(`${model} does not accept ${field}${unless}; remove it from extraBody.`);
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

/** Returns whether `tool_choice` may force a call. */
export function canForce(rules: ModelRules | undefined, reasoning: ReasoningEffort | undefined): boolean {
  if (rules === undefined || rules.forcing === "always") return true;
  return rules.forcing === "without-thinking" && !thinks(rules, reasoning);
}

function thinks({ reasoning: { default: usual } }: ModelRules, reasoning: ReasoningEffort | undefined): boolean {
  const effort = reasoning ?? usual;
  return effort !== undefined && effort !== "none";
}

function invalid(message: string): AgentError {
  return new AgentError({ code: "invalid_option", message });
}

/** Joins words as `a, b or c`. */
export function alternatives(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
