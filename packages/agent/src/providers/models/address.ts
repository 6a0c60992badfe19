import { redactUrls } from "@toolcrib/kit/text";
import type { Remedy } from "../../messages.ts";

/** The service behind a provider. */
export interface Service {
  /** The provider's name. */
  readonly name: string;
  /** For sentences: `OpenAI`. */
  readonly label: string;
  readonly model: string;
  /** Undefined: the SDK's default. */
  readonly baseURL: string | undefined;
  /** The variable that holds the key. */
  readonly keyVariable: string | undefined;
  readonly secrets: readonly string[];
}

/** Returns the address for an error message, without secrets, between `before` and `after`; empty when it is the SDK's default. */
export function addressOf({ baseURL }: Pick<Service, "baseURL">, before: string, after = ""): string {
  return baseURL ? `${before}${redactUrls(baseURL).replace(/[?#].*$/s, "")}${after}` : "";
}

/** Returns what to check where an address or a model is not known. */
export function addressAdvice(service: Service): Remedy["advice"] {
  const slip = addressSlip(service);
  const where = addressOf(service, " (", ")");
  return [`Check the model name (${service.model}) and `, { option: "baseURL" }, `${where}.${slip && ` ${slip}`}`];
}

/** Returns what an address most likely has too much or too little; empty where it looks right. */
export function addressSlip({ name, baseURL = "" }: Pick<Service, "name" | "baseURL">): string {
  const path = URL.parse(baseURL)?.pathname.replace(/\/+$/, "");
  if (path === undefined) return "";
  const end = /\/(?:chat\/completions|completions|responses|messages|models)$/.exec(path)?.[0];
  if (end) return `The address must be without ${end}, which is added to it.`;
  if (name === "anthropic") return path.endsWith("/v1") ? "The address must be without /v1, which is added to it." : "";
  return path === "" ? "Most servers have their API below /v1." : "";
}
