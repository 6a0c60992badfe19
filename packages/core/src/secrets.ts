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

/** Shorter ones would be found in ordinary words, and longer ones cost too much, unless they are looked for as they are. */
const [shortestLoose, longestLoose] = [8, 4096];
const matchers = new WeakMap<readonly string[], readonly (string | RegExp)[]>();

/**
 * `text` without any of `secrets`, in capitals or not, and with white space between their characters, too. Give the longest
 * first: one may contain another.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let forms = matchers.get(secrets);
  if (!forms) {
    forms = secrets.map(matcherOf);
    matchers.set(secrets, forms);
  }
  return forms.reduce<string>((rest, form) => rest.replaceAll(form, redacted), text);
}

function matcherOf(secret: string): string | RegExp {
  const units = secret.replace(/\s/g, "").split("");
  if (units.length < shortestLoose || units.length > longestLoose) return secret;
  const escaped = units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  // With a backslash of its own, a secret would meet an escaped line feed in more ways than one, which costs time.
  return new RegExp(escaped.join(units.includes("\\") ? "\\s*" : "(?:\\s|\\\\[nrt])*"), "gi");
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
