import { expect, test } from "vitest";
import { isSecret } from "./secrets.ts";

test.each([
  ..."OPENAI_API_KEY GITHUB_TOKEN AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY GOOGLE_APPLICATION_CREDENTIALS".split(" "),
  ..."PGPASSWORD SSHPASS MYSQL_PWD SSH_AUTH_SOCK npm_config_//registry.example/:_authToken githubToken SENTRY_DSN SESSION_COOKIE".split(
    " ",
  ),
])("%s is a secret by its name", (name) => {
  expect(isSecret(name, "x")).toBe(true);
});

test.each([
  ..."PATH PWD OLDPWD HOME GIT_AUTHOR_NAME XAUTHORITY TOKENIZERS_PARALLELISM KEYBOARD_LAYOUT NODE_OPTIONS PYTHONPATH".split(
    " ",
  ),
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
