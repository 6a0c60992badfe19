import { inspect } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { mounted, plain, serveLoopback } from "../../fixtures/mounting.ts";
import { createFixtureRegistry } from "../../fixtures/registry.ts";
import type { AnyMcpError } from "../errors.ts";
import { serveMcp } from "../server/serveMcp.ts";
import { createRedact, createWordsRedact } from "./redactErrors.ts";
import { type McpServerConfig, resolveServer } from "./serverConfig.ts";

async function problemsOf(entry: McpServerConfig): Promise<readonly AnyMcpError[]> {
  return (await mounted({ s: entry })).mount.problems;
}

/** All that a log of the error would show. */
const shown = (value: unknown): string => inspect(value, { depth: 20, showHidden: true });

test.each(["http", "sse"])("keys and passwords of an address and its headers reach no error over %s", async (type) => {
  const origin = await serveLoopback((request, response) => {
    response.writeHead(403).end(`refused: ${request.headers.authorization} ${request.headers["x-key"]} ${request.url}`);
  });
  const url = `${origin.replace("://", "://someone:pass%20w0rd@")}/mcp?key=quer%79secret`;
  const [problem] = await problemsOf({ type, url, headers: { "X-Key": "header-secret" } });
  expect(problem).toMatchObject({ code: "server_failed", message: expect.stringContaining("did not start") });
  const basic = Buffer.from("someone:pass w0rd").toString("base64");
  for (const secret of ["pass w0rd", "pass%20w0rd", "querysecret", "header-secret", basic]) {
    expect(shown(problem)).not.toContain(secret);
  }
});

test("a user and password in an address reach the server as a header", async () => {
  const seen: unknown[] = [];
  const origin = await serveLoopback((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(403).end();
  });
  await problemsOf({ url: `${origin.replace("://", "://me:p%40ss@")}/mcp` });
  await problemsOf({ url: `${origin.replace("://", "://me:100%25%zz@")}/mcp` });
  await problemsOf({ url: `${origin.replace("://", "://me:p@")}/mcp`, headers: { authorization: "Bearer own" } });
  expect([...new Set(seen)]).toEqual([
    `Basic ${Buffer.from("me:p@ss").toString("base64")}`,
    `Basic ${Buffer.from("me:100%25%zz").toString("base64")}`,
    "Bearer own",
  ]);
});

test("a key that a server prints before it ends does not reach the error", async () => {
  const script = "console.error('bad key', process.env.API_KEY, process.env.MODE); process.exit(1)";
  const entry = { command: process.execPath, args: ["-e", script], env: { API_KEY: "k-123456", MODE: "plain-mode" } };
  const [problem] = await problemsOf(entry);
  expect(problem?.message).toContain("bad key [redacted] plain-mode");
  expect(shown(problem)).not.toContain("k-123456");
});

test.each([301, 302, 303, 307, 308])("a redirect with %s to another origin is refused and named", async (status) => {
  const seen: string[] = [];
  const other = await serveLoopback((request, response) => {
    seen.push(String(request.url));
    response.end();
  });
  const origin = await serveLoopback((_request, response) => {
    response.writeHead(status, { location: `${other}/mcp?stolen=abcdef` }).end();
  });
  for (const type of ["http", "sse"]) {
    const [problem] = await problemsOf({ type, url: `${origin}/mcp`, headers: { "X-Key": "header-secret" } });
    expect(problem?.message).toContain(`${origin} redirects to ${other}, which was not followed`);
    expect(shown(problem)).not.toContain("abcdef");
  }
  expect(seen).toEqual([]);
});

test("a redirect in the middle of a session is refused, one within the origin is followed", async () => {
  const serving = await serveMcp(createFixtureRegistry(), { http: { auth: false } });
  onTestFinished(() => serving.close());
  let away: string | undefined;
  const seen: string[] = [];
  const other = await serveLoopback((request, response) => {
    seen.push(String(request.url));
    response.end();
  });
  const origin = await serveLoopback(async (request, response) => {
    if (away !== undefined) return void response.writeHead(307, { location: away }).end();
    if (request.url === "/old") return void response.writeHead(308, { location: "/mcp" }).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { host, connection, ...headers } = request.headers;
    const answer = await fetch(String(serving.url), {
      method: request.method ?? "GET",
      headers: headers as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (request.method === "GET") return void response.end();
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  const { mount, registry } = await mounted({ web: { url: `${origin}/old` } });
  expect(mount.problems).toEqual([]);
  expect(await registry.execute("mcp__web__echo", { text: "hi" })).toBe("hi");
  away = `${other}/mcp`;
  expect(await registry.execute("mcp__web__echo", { text: "secret" })).toContain(`redirects to ${other}`);
  expect(seen).toEqual([]);
});

test("what a server says on purpose loses its secrets, and no other address, number or word", async () => {
  const env = {
    API_KEY: "production",
    PORT: "8080443",
    MODE: "production-like",
    PASS: "bypassing",
    DB: "pg://me:hunter22@db/x",
  };
  const said =
    "see https://docs.example/a?page=2#errors, port 8080443, production-like, bypassing; not production or hunter22 at pg://me:hunter22@db/x?a=b";
  const result = { content: [{ type: "text", text: said }], isError: true };
  const entry = await plain("stdio", { tools: [{ name: "fail" }], results: { fail: result } });
  const { registry } = await mounted({ s: { ...entry, env } });
  expect(await registry.execute("mcp__s__fail")).toBe(
    "Error executing mcp__s__fail: see https://docs.example/a?page=2#errors, port 8080443, [redacted]-like, bypassing; not [redacted] or " +
      "[redacted] at [redacted]?a=b",
  );
});

const inWords = (name: string, value: string): string =>
  createWordsRedact(resolveServer("s", { command: "x", env: { [name]: value } }, {}))(`it says ${value}.`);
const inErrors = (name: string, value: string): string =>
  createRedact(resolveServer("s", { command: "x", env: { [name]: value } }, {}))(`it says ${value}.`);

test("a variable that is named as a secret holds one, also a word or a number", () => {
  const names =
    "API_KEY DB_PASS PGPASS dbPass SMTP_PASS_2 AUTH NPM_AUTH OAUTH MYSQL_PWD GITHUB_PAT JWT SENTRY_DSN PASSWD passphrase CREDS " +
    "SESSION_COOKIE X_BEARER token MYSQL_PWD_2 MYSQL_PWD2 PAT1 GITHUB_PAT_2 JWT2 API_KEY_OLD KEY2 TOKEN1 DB_PASS_PROD PGPASS1 dbPass2 " +
    "NPM_AUTH_BACKUP AUTH2 REDIS_PWD_OLD_2 GITHUB_PAT_RO SENTRY_DSN_STAGING DB1_PASS COOKIE_2";
  for (const name of names.split(" ")) {
    for (const value of ["production", "20261129"]) {
      expect(inWords(name, value), name).toBe("it says [redacted].");
      expect(inErrors(name, value), name).toBe("it says [redacted].");
    }
  }
});

test("the words of another variable stay in what a server says, and what looks like a secret does not", () => {
  const names =
    "PASS BYPASS PROXY_BYPASS COMPASS NO_TRESPASS GIT_AUTHOR_NAME AUTHORITY AUTH_MODE PASS_COUNT PATH_STYLE COMPAT PWD OLDPWD PASSENGERS " +
    "BYPASS_2 BYPASS_OLD AUTHOR AUTHOR1 AUTHORS_OLD PATH PATH_2 PATTERN PATTERN1 PATCH2 COMPAT_2 PASS_2 PASS_OLD PWD_2 PAT_STYLE JWT_ISSUER";
  for (const name of names.split(" ")) {
    expect(inWords(name, "production"), name).toBe("it says production.");
    expect(inWords(name, "sk-1234567890abcdef1234"), name).toBe("it says [redacted].");
  }
});

test("in errors a value that looks like a secret is one, and the password of an address by itself, too", () => {
  expect(inErrors("REPO", "ghp_1234567890abcdef1234")).toBe("it says [redacted].");
  const redact = createRedact(resolveServer("s", { command: "x", env: { DB: "pg://me:hunter%202@db/x" } }, {}));
  expect(redact("no login with hunter 2")).toBe("no login with [redacted]");
});

test("headers and what looks like a key in the address of a server are secrets of its words, too", () => {
  const entry = {
    url: "https://x.example/mcp?project=production&id=a1b2c3d4e5f6a7b8c9&token=word-like",
    headers: { "X-Team": "blue-team" },
  };
  const redact = createWordsRedact(resolveServer("s", entry, {}));
  expect(redact("production a1b2c3d4e5f6a7b8c9 word-like blue-team https://y.example/?q=1")).toBe(
    "production [redacted] [redacted] [redacted] https://y.example/?q=1",
  );
});
