import type { Provider } from "@toolcrib/agent";
import { chooseModel as choose } from "@toolcrib/agent/models";

/** A provider, and one line that tells the user which it is and why. */
export interface ModelChoice {
  readonly provider: Provider;
  readonly why: string;
  /** Whether the user named provider and model. If not, `why` is shown before anything is sent. */
  readonly isNamed: boolean;
}

interface ModelRequest {
  /** `-m provider/model`, `-m provider`. */
  readonly model?: string | undefined;
  /** `--base-url`: where the provider is, for a server elsewhere or a gateway. */
  readonly baseUrl?: string | undefined;
}

/** What `-m` and `--base-url` name, else what the environment offers. */
export async function chooseModel({ model, baseUrl }: ModelRequest): Promise<ModelChoice> {
  const { provider, by, reason } = await choose({ model, baseURL: baseUrl });
  const cause = by === "named" ? "asked for with -m" : reason;
  const why =
    by === "offline"
      ? "No model is connected: the offline stand-in answers (a few rules). toolcrib --help tells how to connect one."
      : `Using ${provider.name}/${provider.model}: ${cause}. Another: -m provider/model.`;
  return { provider, why, isNamed: by === "named" };
}
