/** What stands in a text where a secret was. */
export const redacted = "[redacted]";

/**
 * The parts of a header's value that are secrets by themselves: the value, what follows its scheme, the values of cookies,
 * and the login and password of Basic. Some may be empty.
 */
export function headerSecrets(name: string, value: string): string[] {
  const [, scheme, rest = ""] = /^(\w+)\s+(.+)$/s.exec(value) ?? [];
  const cookies = /cookie/i.test(name) ? value.split(";").map((pair) => pair.slice(pair.indexOf("=") + 1).trim()) : [];
  const login = scheme?.toLowerCase() === "basic" ? Buffer.from(rest, "base64").toString() : "";
  return [value, rest, ...cookies, login, login.slice(login.indexOf(":") + 1)];
}

/** Each secret in every form in which a service may repeat it: as it is, percent-encoded, in JSON, in base64. The longest first. */
export function secretForms(secrets: readonly string[]): string[] {
  return [...new Set(secrets.flatMap(formsOf))].sort((a, b) => b.length - a.length);
}

/** `text` without any of `secrets`. Give the longest first: one may contain another. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, redacted), text);
}

function formsOf(secret: string): string[] {
  const base64 = [0, 1, 2].map((offset) => base64Within(secret, offset)).filter((form) => form.length >= 8);
  const urlSafe = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  return [
    secret,
    // By way of bytes: encodeURIComponent throws for half of a surrogate pair.
    encodeURIComponent(Buffer.from(secret).toString()),
    JSON.stringify(secret).slice(1, -1),
    ...base64,
    ...urlSafe,
  ];
}

/** The base64 of a secret that begins `offset` bytes into a group of three, without the digits that its neighbours share. */
function base64Within(secret: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
  return bytes.toString("base64").slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}
