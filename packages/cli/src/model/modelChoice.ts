import type { Provider } from "@toolcrib/agent";
import { chooseModel as choose, type ModelRequest } from "@toolcrib/agent/models";
import { usageError } from "../exitReasons.ts";
import type { ModelFlags } from "../sharedFlags.ts";

/** A provider, and one line that tells the user which it is and why. */
export interface ModelChoice {
  readonly provider: Provider;
  /** `PROVIDER/MODEL`, with the provider as the user named it. */
  readonly name: string;
  readonly why: string;
  /** True if the user named provider and model. If not, `why` is shown before anything is sent. */
  readonly isNamed: boolean;
  /** Tells that the stand-in answers, as nothing else is there. */
  readonly isOffline: boolean;
  /** Keeps what was asked for; another model that the user changes to keeps the rest. */
  readonly flags: ModelFlags;
}

const addressVariables: Readonly<Record<string, string>> = {
  openai: "OPENAI_BASE_URL",
  "openai-compatible": "OPENAI_BASE_URL",
  anthropic: "ANTHROPIC_BASE_URL",
};

/** Throws a usage error for an address in the environment that is none of a web server. */
function checkAddressOf(provider: Provider, env: NodeJS.ProcessEnv): void {
  const variable = addressVariables[provider.name];
  if (variable !== undefined && /^(?!https?:)[a-z][\w+.-]*:\/\//i.test(env[variable] ?? ""))
    throw usageError(`${variable} must begin with http:// or https://.`);
}

/** The SDKs are built in: a package of hundreds of files takes Node half a millisecond for each. */
const loadSdk: NonNullable<ModelRequest["loadSdk"]> = (name) =>
  name === "openai" ? import("./openaiSdk.ts") : import("./anthropicSdk.ts");

/** Chooses the model that the flags name, else one that the environment offers. */
export async function chooseModel(flags: ModelFlags, env: NodeJS.ProcessEnv): Promise<ModelChoice> {
  const { model, baseUrl, reasoning, cacheTtl } = flags;
  const { provider, by, reason } = await choose({ model, baseURL: baseUrl, reasoning, cacheTtl, loadSdk });
  if (baseUrl === undefined) checkAddressOf(provider, env);
  const isNamed = by === "named";
  const name = `${isNamed && model?.includes("/") ? providerIn(model) : provider.name}/${provider.model}`;
  const isOffline = by === "offline";
  const why = isOffline
    ? "No model is connected, so the offline stand-in answers by a few rules. toolcrib --help says how to connect one."
    : `Using ${name}${isNamed ? "" : `: ${reason}`}. Another: -m provider/model.`;
  return { provider, name, why, isNamed, isOffline, flags: { model, baseUrl, reasoning, cacheTtl } };
}

/** Chooses another model; it is where `--base-url` says if its provider is the first one's. */
export function chooseAnother(first: ModelChoice, model: string, env: NodeJS.ProcessEnv): Promise<ModelChoice> {
  const isSame = providerIn(model) === providerIn(first.flags.model ?? first.provider.name);
  return chooseModel({ ...first.flags, model, baseUrl: isSame ? first.flags.baseUrl : undefined }, env);
}

export function providerIn(model: string): string {
  return model.split("/", 1)[0]?.toLowerCase() ?? "";
}
