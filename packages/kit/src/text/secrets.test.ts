import { expect, test } from "vitest";
import { headerSecrets, isSecret, redactUrls, secretForms, withoutSecrets } from "./secrets.ts";

const secret = 'pass/~wörd "1"';

test.each([
  ["as it is", secret],
  ["percent-encoded", encodeURIComponent(secret)],
  ["in a form", new URLSearchParams({ secret }).toString()],
  ["in JSON", JSON.stringify({ secret })],
  ["in base64", Buffer.from(secret).toString("base64")],
  ["in base64 after a user name", Buffer.from(`someone:${secret}`).toString("base64")],
  ["in URL-safe base64", Buffer.from(`x${secret}`).toString("base64url")],
])("a secret is taken out of a text %s", (_form, text) => {
  const clean = withoutSecrets(text, secretForms([secret]));
  expect(clean).toContain("[redacted]");
  for (const form of secretForms([secret])) expect(clean).not.toContain(form);
});

test("of two secrets, one that contains the other is removed whole", () => {
  expect(withoutSecrets("long-secret secret", secretForms(["secret", "long-secret"]))).toBe("[redacted] [redacted]");
});

test("a header's value holds the token, the login, the password and the cookies", () => {
  expect(headerSecrets("Authorization", "Bearer abc")).toEqual(expect.arrayContaining(["Bearer abc", "abc"]));
  const basic = `Basic ${Buffer.from("me:p:w").toString("base64")}`;
  expect(headerSecrets("Authorization", basic)).toEqual(expect.arrayContaining([basic, "me:p:w", "p:w"]));
  expect(headerSecrets("Cookie", "a=one; b=two")).toEqual(expect.arrayContaining(["one", "two"]));
});

test.each([
  ["in capitals", "SK-TEST-ABCDEFGH12345678"],
  ["with a line feed inside", "sk-test-abcd\nefgh12345678"],
  ["with a line feed written as JSON", "sk-test-abcd\\nefgh12345678"],
  ["with its letters spaced", [..."sk-test-abcdefgh12345678"].join(" ")],
  ["wrapped and indented", "sk-test-\r\n        abcdefgh\u00a012345678"],
])("a secret is taken out of a text %s", (_form, text) => {
  expect(withoutSecrets(`before ${text} after`, secretForms(["sk-test-abcdefgh12345678"]))).toBe(
    "before [redacted] after",
  );
});

test("however long the secret is and whatever the text, the search ends", () => {
  // Each text is the worst one for a pattern that allows white space anywhere.
  const texts = ["n\\n".repeat(500_000), "n ".repeat(500_000), `n${" ".repeat(1_000_000)}`, "n".repeat(1_000_000)];
  const secrets = secretForms([`${"n".repeat(40)}1`, "k".repeat(200_000)]);
  for (const text of texts) expect(withoutSecrets(text, secrets)).toBe(text);
  expect(withoutSecrets(`a ${"K ".repeat(200_000)}b`, secrets)).toBe("a [redacted] b");
});

test("two secrets that touch or overlap are removed completely", () => {
  const secrets = secretForms(["abcdefgh12", "gh12345678"]);
  expect(withoutSecrets("x ABCDEFGH12 GH12345678 y", secrets)).toBe("x [redacted] [redacted] y");
  expect(withoutSecrets("x ABCDEFGH12345678 y", secrets)).toBe("x [redacted] y");
});

test("a short secret is removed only as a whole word, so that ordinary words stay", () => {
  expect(withoutSecrets("sea son SEASON season", ["season"])).toBe("sea son SEASON [redacted]");
});

test.each([
  ..."OPENAI_API_KEY GITHUB_TOKEN AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY GOOGLE_APPLICATION_CREDENTIALS".split(" "),
  ..."PGPASSWORD SSHPASS MYSQL_PWD SSH_AUTH_SOCK npm_config_//registry.example/:_authToken githubToken SENTRY_DSN SESSION_COOKIE".split(
    " ",
  ),
  ..."MYSQL_PWD_2 MYSQL_PWD2 PAT1 GITHUB_PAT_2 TOKEN2 API_KEY1 API_KEY_OLD DB_PASS2 MYSQL_PWD_OLD JWT2 dbToken2".split(
    " ",
  ),
])("%s is a secret by its name", (name) => {
  expect(isSecret(name, "x")).toBe(true);
});

test.each([
  ..."PATH PWD OLDPWD HOME GIT_AUTHOR_NAME XAUTHORITY TOKENIZERS_PARALLELISM KEYBOARD_LAYOUT NODE_OPTIONS PYTHONPATH".split(
    " ",
  ),
  ..."PWD_2 OLDPWD1 PATH2 PATTERN1 AUTHOR1 COMPAT_2 AUTH0_DOMAIN OAUTH2_SCOPES".split(" "),
])("%s is not a secret", (name) => {
  expect(isSecret(name, "/usr/bin:/bin")).toBe(false);
});

test.each([
  `sk-${"a1B2".repeat(8)}`,
  `ghp_${"a1B2".repeat(9)}`,
  `github_pat_${"a1B2".repeat(9)}`,
  `xoxb-${"1234-".repeat(5)}`,
  `AKIA${"ABCD".repeat(4)}`,
  `AIza${"aB3-".repeat(9)}`,
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
  "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
  "Bearer abcdefgh1234",
  "postgres://user:hunter2@db.example/main",
])("a value such as %s is a secret, whatever its name", (value) => {
  expect(isSecret("SOMETHING", value)).toBe(true);
});

test.each(["https://example.com:8080/a@b", "disk-usage-of-this-machine", "http://127.0.0.1:3128", ""])(
  "a value such as %s is not a secret",
  (value) => {
    expect(isSecret("SOMETHING", value)).toBe(false);
  },
);

test.each([
  ["https://example.com/mcp", "https://example.com/mcp"],
  ["https://u:p@example.com/mcp", "https://[redacted]@example.com/mcp"],
  ["https://token@example.com", "https://[redacted]@example.com"],
  ["https://example.com/mcp?key=abc&v=1#frag", "https://example.com/mcp?key=[redacted]&v=[redacted]#[redacted]"],
  ["https://example.com/?abc", "https://example.com/?[redacted]"],
  [
    "fetch of http://a:b@c/ and https://x?k=v failed",
    "fetch of http://[redacted]@c/ and https://x?k=[redacted] failed",
  ],
  ['"postgres://me:p%40ss@db:5432/x"', '"postgres://[redacted]@db:5432/x"'],
  ["https://u:p/a?s#s@example.com/x", "https://[redacted]@example.com/x"],
  ["https://example.com/pkg@1.2", "https://example.com/pkg@1.2"],
  [`https://\${USER}:\${PASS}@example.com/?key=\${KEY}`, `https://\${USER}:\${PASS}@example.com/?key=\${KEY}`],
  [`https://example.com/?key=\${KEY:-abc}`, `https://example.com/?key=[redacted]`],
  ["no address here: a@b", "no address here: a@b"],
])("%s is shown as %s", (text, shown) => {
  expect(redactUrls(text)).toBe(shown);
});

test("a long text costs time in proportion to its length", () => {
  const text = "a://".repeat(50_000) + "@".repeat(50_000);
  expect(redactUrls(text).length).toBeGreaterThan(0);
});
