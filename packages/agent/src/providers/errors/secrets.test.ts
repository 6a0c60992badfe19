import { expect, test } from "vitest";
import { redact } from "./redact.ts";
import { clientKeys, secretsOf } from "./secrets.ts";

const key = "sk-test-abcdefgh12345678";

test("secrets are the key and the headers that carry one, with and without their scheme", () => {
  const secrets = secretsOf({
    keys: [key, undefined],
    headers: {
      Authorization: "Bearer other-secret-1",
      "X-Title": "toolcrib",
      "HTTP-Referer": "https://example.test/some/long/page1",
      "x-api-key": "third-secret",
      "X-Gateway": "a1b2c3d4e5f6a7b8c9d0e1f2",
      Cookie: "session=cookie-secret-4; theme=dark",
      "Proxy-Authorization": `Basic ${Buffer.from("user:pass word").toString("base64")}`,
    },
  });
  for (const secret of [
    ...[key, "Bearer other-secret-1", "other-secret-1", "third-secret", "a1b2c3d4e5f6a7b8c9d0e1f2"],
    ...["cookie-secret-4", "user:pass word", "pass word"],
  ])
    expect(secrets).toContain(secret);
  for (const plain of ["toolcrib", "https://example.test/some/long/page1", "dark"])
    expect(secrets).not.toContain(plain);
  expect(secretsOf({ keys: clientKeys({ apiKey: "client-key-1", authToken: "client-token-1" }) })).toEqual(
    expect.arrayContaining(["client-key-1", "client-token-1"]),
  );
  expect(secretsOf({ keys: ["", undefined, null, 5], headers: {}, baseURL: "https://api.test/v1" })).toEqual([]);
});

test.each([
  ["http://user:hunter2@host.test/v1", ["hunter2", "user:hunter2"]],
  ["http://user:p%40ss%2Fword@host.test/v1", ["p%40ss%2Fword", "p@ss/word"]],
  ["http://user:p@ss/word@host.test/v1", ["p@ss/word"]],
  ["user:hunter2@host.test/v1", ["hunter2"]],
  ["https://token-only-1@host.test", ["token-only-1"]],
  ["https://host.test/v1?api-version=3&code=abcd%20efgh", ["abcd efgh", "abcd%20efgh"]],
])("the secrets in the address %s are found", (baseURL, expected) => {
  for (const secret of expected) expect(secretsOf({ baseURL })).toContain(secret);
});

const awkward = 'pa"ss wörd/+&=?%#1';

test.each([
  ["as it is", (secret: string) => secret],
  ["in a URL", encodeURIComponent],
  ["in JSON", (secret: string) => JSON.stringify({ secret })],
  ["in base64", (secret: string) => Buffer.from(secret).toString("base64")],
  ["in base64 behind a name", (secret: string) => Buffer.from(`user:${secret}`).toString("base64")],
  ["in base64 behind a longer name", (secret: string) => Buffer.from(`user1:${secret}\n`).toString("base64")],
  ["in base64 for URLs", (secret: string) => Buffer.from(`user12:${secret}`).toString("base64url")],
])("a secret that a service echoes %s is removed", (_, echo) => {
  for (const secret of [key, awkward]) {
    const echoed = echo(secret);
    const shown = redact(`You sent ${echoed}.`, secretsOf({ keys: [secret] }));
    expect(shown).toContain("[redacted]");
    for (let at = 0; at + 12 <= echoed.length - 8; at += 1) expect(shown).not.toContain(echoed.slice(at + 8, at + 20));
  }
});
