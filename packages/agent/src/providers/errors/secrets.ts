import { attempt } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { headerSecrets, secretForms } from "@toolcrib/kit/text";

interface SecretSources {
  /** The key, and those of a ready client. */
  readonly keys?: readonly unknown[];
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Its user name, password and query. */
  readonly baseURL?: string | undefined;
}

const shortestSecret = 6;
const shortestPassword = 4;
const secretHeader = /auth|key|token|secret|cookie|pass|credential|session|signature|jwt|access/i;
/** One long word with a digit in it, and no address. */
const looksSecret = /^(?!\w+:\/\/)(?=\S*\d)(?=\S*[a-z])\S{20,}$/i;

/** Returns every secret among them, in each form in which a service may echo it; the longest first. */
export function secretsOf({ keys = [], headers = {}, baseURL }: SecretSources): string[] {
  const plain = [
    ...keys.filter((key) => typeof key === "string"),
    ...Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" && (secretHeader.test(name) || looksSecret.test(value))
        ? headerSecrets(name, value)
        : [],
    ),
  ].filter((secret) => secret.length >= shortestSecret);
  const passwords = addressSecrets(baseURL).filter((secret) => secret.length >= shortestPassword);
  return secretForms([...plain, ...passwords]);
}

export function clientKeys(client: object | undefined): unknown[] {
  return isObject(client) ? [client.apiKey, client.authToken, client.adminAPIKey] : [];
}

function addressSecrets(address: string | undefined): string[] {
  if (address === undefined) return [];
  // Read by hand: an address with a slip in it is the one that an error quotes.
  const login = /^(?:[a-z][\w+.-]*:\/\/)?(.*)@/is.exec(address)?.[1] ?? "";
  const query = /\?([^#]*)/s.exec(address)?.[1] ?? "";
  const values = query.split("&").map((pair) => pair.slice(pair.indexOf("=") + 1));
  const found = [login, login.slice(login.indexOf(":") + 1), query, ...values];
  return [...found, ...found.map((text) => attempt(() => decodeURIComponent(text)) ?? text)];
}
