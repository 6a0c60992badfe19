import { expect, test } from "vitest";
import { headerSecrets, secretForms, withoutSecrets } from "./secrets.ts";

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
