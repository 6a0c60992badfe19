import { expect, test } from "vitest";
import { isMcpError } from "../errors.ts";
import { configDigest, resolveServer, serverEntries } from "./serverConfig.ts";

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: filled in by the configuration
test("a command is used as written, with variables filled in", () => {
  const entry = {
    type: "stdio",
    command: "${BIN}/server",
    args: ["--dir", "${DIR:-/tmp}", "$PLAIN", "a${A}b"],
    env: { KEY: "${SECRET}", PORT: 80 },
    cwd: "/work",
    timeout: 5,
  };
  expect(resolveServer("s", entry, { BIN: "/bin", SECRET: "x", A: "" })).toMatchObject({
    kind: "command",
    command: "/bin/server",
    args: ["--dir", "/tmp", "$PLAIN", "ab"],
    env: { KEY: "x", PORT: "80" },
    cwd: "/work",
  });
});

test("variables in a value that was filled in are not filled in again", () => {
  expect(resolveServer("s", { command: "${A}" }, { A: "${B}", B: "no" })).toMatchObject({ command: "${B}" });
});

test("an address is taken with its headers, and the transport of 2024 where it is asked for", () => {
  const headers = { Authorization: "Bearer ${TOKEN}" };
  expect(
    resolveServer("s", { type: "sse", url: "https://x.example/${P:-mcp}", headers }, { TOKEN: "t" }),
  ).toMatchObject({
    kind: "url",
    url: new URL("https://x.example/mcp"),
    headers: { Authorization: "Bearer t" },
    sse: true,
  });
});

test.each([
  [{}, /needs a command \(and args\) or a url/],
  [null, /needs a command/],
  [{ command: "" }, /command must be a non-empty string/],
  [{ command: "x", args: "y" }, /args must be an array of strings/],
  [{ command: "x", env: { A: {} } }, /env.A must be a string/],
  [{ url: "file:///etc/passwd" }, /http or https/],
  [{ url: "nonsense" }, /http or https/],
  [{ command: "x", disabled: "yes" }, /disabled must be true or false/],
  [{ command: "x", disabled: null }, /disabled must be true or false/],
  [{ command: "x", enabled: false }, /enabled has no effect; write it as disabled/],
  [{ url: "http://x", Disabled: true }, /Disabled has no effect; write it as disabled/],
  [{ command: "x", url: "http://x" }, /both a command and a url; keep one/],
  [{ command: "x", url: null }, /both a command and a url/],
  [{ command: "${MISSING}" }, /the environment variable MISSING is not set/],
])("the entry %j is refused with the reason", (entry, says) => {
  try {
    resolveServer("s", entry, {});
    expect.unreachable();
  } catch (error) {
    expect(isMcpError(error) && error.code).toBe("invalid_config");
    expect(String(error)).toMatch(says);
  }
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above

test("disabled entries are left out, the others keep their order", () => {
  const mcpServers = { b: { command: "x" }, off: { command: "x", disabled: true }, a: { url: "http://x" } };
  expect(serverEntries({ mcpServers }).map(([name]) => name)).toEqual(["b", "a"]);
  for (const config of [undefined, {}, { mcpServers: [] }]) expect(() => serverEntries(config)).toThrow(/mcpServers/);
});

test("the digest changes with each edit and holds no secret", () => {
  const entry = { command: "x", env: { KEY: "s3cret" } };
  expect(configDigest(entry)).toBe(configDigest({ ...entry }));
  expect(configDigest(entry)).not.toBe(configDigest({ ...entry, env: { KEY: "other" } }));
  expect(configDigest(entry)).toMatch(/^[0-9a-f]{64}$/);
});
