/** The replacement for a secret in a text. */
export const redacted = "[redacted]";

/**
 * Returns the parts of a header's value that are secrets by themselves: the value, what follows its scheme, the values of cookies,
 * and the login and password of Basic. Some may be empty.
 */
export function headerSecrets(name: string, value: string): string[] {
  const [, scheme, rest = ""] = /^(\w+)\s+(.+)$/s.exec(value) ?? [];
  const cookies = /cookie/i.test(name) ? value.split(";").map((pair) => pair.slice(pair.indexOf("=") + 1).trim()) : [];
  const login = scheme?.toLowerCase() === "basic" ? Buffer.from(rest, "base64").toString() : "";
  return [value, rest, ...cookies, login, login.slice(login.indexOf(":") + 1)];
}

/** Returns each secret in every form in which a service may repeat it: as it is, percent-encoded, in a form, in JSON, in base64. The longest first. */
export function secretForms(secrets: readonly string[]): string[] {
  return [...new Set(secrets.flatMap(formsOf))].sort((a, b) => b.length - a.length);
}

/** Shorter ones would be found in ordinary words. */
const shortestLoose = 8;
/** White space, also as JSON writes it. */
const blank = /\s+|\\[nrt]/g;
const plainForms = new WeakMap<readonly string[], readonly string[]>();

/**
 * Returns `text` without any of `secrets`, in capitals or not, and with white space between their characters, too. Give the longest
 * first: one may contain another.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let plain = plainForms.get(secrets);
  if (!plain) {
    plain = [...new Set(secrets.map(plainOf))].filter((form) => form.length >= shortestLoose);
    plainForms.set(secrets, plain);
  }
  const rest = secrets.reduce((left, secret) => left.replaceAll(secret, redacted), text);
  const searched = plainOf(rest);
  const spans = plain.flatMap((form) => spansOf(form, searched));
  return spans.length === 0 ? rest : withoutSpans(rest, spans);
}

/** Returns the plain form, which is searched in place of a pattern, whose cost a text could drive up. */
function plainOf(text: string): string {
  return text.replace(blank, "").replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

type Span = readonly [start: number, end: number];

function spansOf(form: string, text: string): Span[] {
  const spans: Span[] = [];
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length))
    spans.push([at, at + form.length]);
  return spans;
}

/** Removes `spans`, which count in the plain form of `text`. */
function withoutSpans(text: string, spans: readonly Span[]): string {
  const places: number[] = [];
  let from = 0;
  for (const { 0: found, index } of [...text.matchAll(blank), { 0: "", index: text.length }]) {
    for (let at = from; at < index; at += 1) places.push(at);
    from = index + found.length;
  }
  let clean = "";
  let copied = 0;
  let covered = 0;
  for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0])) {
    if (start >= covered) clean += text.slice(copied, places[start]) + redacted;
    covered = Math.max(covered, end);
    copied = (places[covered - 1] ?? text.length) + 1;
  }
  return clean + text.slice(copied);
}

function formsOf(secret: string): string[] {
  const base64 = [0, 1, 2].map((offset) => base64Within(secret, offset)).filter((form) => form.length >= 8);
  const urlSafe = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  return [
    secret,
    // By way of bytes: encodeURIComponent throws for half of a surrogate pair.
    encodeURIComponent(Buffer.from(secret).toString()),
    // As forms send it: more characters are encoded.
    new URLSearchParams([["", secret]]).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    ...base64,
    ...urlSafe,
  ];
}

/** Returns the base64 of a secret that begins `offset` bytes into a group of three, without the digits that its neighbours share. */
function base64Within(secret: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
  return bytes.toString("base64").slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

/** An address anywhere in a text: scheme, authority, path, query, fragment. */
const address = /\b([a-z][a-z0-9+.-]*:\/\/)([^\s"'<>]*)/gi;

/** Nothing but variables to be filled in later. */
const isReference = /^(?:\$\{\w+\}|[:&])*$/;

/**
 * Returns `text` without what in its addresses may be a secret: user and password, the values of the query, the fragment. Host and path
 * stay. For errors, listings and logs.
 */
export function redactUrls(text: string): string {
  return text.replace(address, (whole: string, scheme: string, rest: string) => {
    // A password may hold `/`, `?` or `#` by mistake: then no parser finds the host, and all before the last @ is hidden.
    const [, user, place = "", query, fragment] =
      (URL.canParse(whole)
        ? /^(?:([^/?#]*)@)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s
        : /^(?:(.*)@)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s
      ).exec(rest) ?? [];
    return [
      scheme,
      user === undefined ? "" : `${hidden(user)}@`,
      place,
      query === undefined ? "" : `?${query.split("&").map(hiddenValue).join("&")}`,
      fragment === undefined ? "" : `#${hidden(fragment)}`,
    ].join("");
  });
}

function hiddenValue(pair: string): string {
  const at = pair.indexOf("=");
  return at < 0 ? hidden(pair) : `${pair.slice(0, at)}=${hidden(pair.slice(at + 1))}`;
}

function hidden(value: string): string {
  return isReference.test(value) ? value : redacted;
}

/*
 * What looks like a secret, by its name and value. In doubt it is one: hiding a value is easy to notice and to change.
 */

/** The end of any word of the name: GITHUB_TOKEN, TOKEN2, githubToken, SSH_AUTH_SOCK, PGPASSWORD; AUTH0 and OAUTH2 are names of others. */
const secretWord = /(?:(?:keys?|tokens?|secrets?|pass|passwords?|passwd|passphrase|credentials?|creds)\d*|auth)$/i;

const secretWholeWord = /^(?:pat|jwt|dsn|cookies?|bearer|private)\d*$/i;

/** MYSQL_PWD, MYSQL_PWD_2 and the like; PWD and OLDPWD are directories. */
const passwordAsPwd = /._pwd(?![a-z])/i;

const secretValues: readonly RegExp[] = [
  // Well-known prefixes of keys and tokens.
  /(?:^|[^A-Za-z0-9])(?:sk-|[sr]k_(?:live|test)_|gh[opusr]_|github_pat_|glpat-|xox[a-z]-|npm_|pypi-|hf_|SG\.|dop_v1_|ya29\.|shpat_|AGE-SECRET-KEY-)[A-Za-z0-9_.-]{16}/,
  /(?:^|[^A-Za-z0-9])(?:A[KS]IA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30})/,
  // A JSON Web Token: two base64url objects.
  /eyJ[A-Za-z0-9_-]{8,2000}\.eyJ/,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY/,
  /^(?:Bearer|Basic) \S{8}/i,
  // A password in a URL.
  /:\/\/[^\s/:@]{0,200}:[^\s/@]{1,500}@/,
];

/** Returns whether a variable looks like a secret, by the words of its name or the form of its value. */
export function isSecret(name: string, value: string): boolean {
  const words = name.split(/[^A-Za-z0-9]+/);
  return (
    words.some((word) => secretWord.test(word) || secretWholeWord.test(word)) ||
    passwordAsPwd.test(name) ||
    secretValues.some((shape) => shape.test(value))
  );
}
