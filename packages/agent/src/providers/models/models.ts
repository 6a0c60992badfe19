import { anthropicModels } from "./anthropicModels.ts";
import type { ModelPrice, ModelRules } from "./modelRules.ts";
import { openaiModels } from "./openaiModels.ts";

/** The model a provider uses when none is named. */
export const defaultModels = {
  openai: "gpt-6.1-terra",
  anthropic: "claude-sonnet-5-5",
  openrouter: "openrouter/auto",
} as const;

/** The facts about models, by service. In each list the first row holds for names that nothing else fits. */
export const models: Readonly<Record<"anthropic" | "openai", readonly [ModelRules, ...ModelRules[]]>> = {
  anthropic: anthropicModels,
  openai: openaiModels,
};

interface NamedModel {
  /** The provider's name: `anthropic`, `openai`, `openrouter`, … */
  readonly name: string;
  readonly model: string;
}

/**
 * Returns the rules of a model at its service; `isKnown`: only if its name is known, for a model at another address. An unknown name of Anthropic or OpenAI has those of the newest model of its line (`opus`), or of its service.
 * OpenRouter's names of their models count as known names. Undefined for every other model: nothing is known about it.
 */
export function modelRules({ name, model }: NamedModel, isKnown = false): ModelRules | undefined {
  if (name === "anthropic" || name === "openai") {
    const rows = models[name];
    const plain = name === "anthropic" ? anthropicName(model) : model;
    const known = named(rows, plain) ?? rows.find((row) => row.isFamily && plain.startsWith(row.name));
    return isKnown ? known : (known ?? rows.find(({ line }) => line !== undefined && plain.includes(line)) ?? rows[0]);
  }
  if (name !== "openrouter") return undefined;
  const [maker = "", routed = ""] = model.split("/", 2);
  if (maker === "anthropic") return named(models.anthropic, anthropicName(routed.replaceAll(".", "-")));
  return maker === "openai" ? named(models.openai, routed) : undefined;
}

/** Returns dollars per million tokens; undefined where the price of a model is not known. A price is never that of another model. */
export function modelPrice({ name, model }: NamedModel): ModelPrice | undefined {
  if (name === "anthropic") return named(models.anthropic, model)?.price;
  return name === "openai" ? named(models.openai, model)?.price : undefined;
}

/** A snapshot's date, or `latest`. */
const snapshot = /^-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

function named(rows: readonly ModelRules[], model: string): ModelRules | undefined {
  return rows.find(
    ({ name, isFamily }) =>
      !isFamily && (model === name || (model.startsWith(name) && snapshot.test(model.slice(name.length)))),
  );
}

/** Returns the name without what clouds put around it: `us.anthropic.claude-opus-5-5-v1:0`, `claude-haiku-4-5@20251001`. */
function anthropicName(model: string): string {
  return model
    .replace(/^.*\banthropic[./]/, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace("@", "-");
}
