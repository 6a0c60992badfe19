import type { Provider } from "@toolcrib/agent";
import { chooseModel as choose } from "@toolcrib/agent/models";
import { usageError } from "../exitReasons.ts";
import type { ModelFlags } from "../sharedFlags.ts";

/** A provider, and one line that tells the user which it is and why. */
export interface ModelChoice {
  readonly provider: Provider;
  readonly why: string;
  /** Whether the user named provider and model. If not, `why` is shown before anything is sent. */
  readonly isNamed: boolean;
  /** For another model that the user changes to. */
  readonly settings: Pick<ModelFlags, "reasoning" | "cacheTtl">;
}

const addressVariables: Readonly<Record<string, string>> = {
  openai: "OPENAI_BASE_URL",
  "openai-compatible": "OPENAI_BASE_URL",
  anthropic: "ANTHROPIC_BASE_URL",
};

/** Throws a usage error for an address in the environment that is none of a web server. */
function checkAddressOf(provider: Provider): void {
  const variable = addressVariables[provider.name];
  if (variable !== undefined && /^(?!https?:)[a-z][\w+.-]*:\/\//i.test(process.env[variable] ?? ""))
    throw usageError(`${variable} must begin with http:// or https://.`);
}

/** Chooses the model that the flags name, else one that the environment offers. */
export async function chooseModel({ model, baseUrl, reasoning, cacheTtl }: ModelFlags): Promise<ModelChoice> {
  const settings = { reasoning, cacheTtl };
  const { provider, by, reason } = await choose({ model, baseURL: baseUrl, ...settings });
  if (baseUrl === undefined) checkAddressOf(provider);
  const cause = by === "named" ? "asked for with -m" : reason;
  const why =
    by === "offline"
      ? "No model is connected: the offline stand-in answers (a few rules). toolcrib --help tells how to connect one."
      : `Using ${provider.name}/${provider.model}: ${cause}. Another: -m provider/model.`;
  return { provider, why, isNamed: by === "named", settings };
}
