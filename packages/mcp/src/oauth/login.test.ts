import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { AuthorizationServer, type ProtectedServer, protect, temporaryFolder } from "@toolcrib/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFixtureRegistry } from "../../fixtures/registry.ts";
import { type McpMount, mountMcp } from "../client/mountMcp.ts";
import { createOAuthStore, login, type OAuthStore } from "../oauth.ts";
import { serveMcp } from "../server/serveMcp.ts";
import type { LoginOptions } from "./login.ts";

let authorization: AuthorizationServer;
let server: ProtectedServer;
let path: string;
let store: OAuthStore;
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  authorization = await AuthorizationServer.start();
  const serving = await serveMcp(createFixtureRegistry(), { http: {} });
  server = await protect(String(serving.url), String(serving.token), authorization);
  cleanups.push(
    () => authorization.close(),
    () => serving.close(),
    () => server.close(),
  );
  path = join(temporaryFolder("oauth"), "state", "logins.json");
  store = createOAuthStore(path);
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A browser: it follows the login page back to this machine. */
const browse = (address: URL): void => void fetch(address).catch(() => undefined);

const logIn = (options: Partial<LoginOptions> = {}) =>
  login({ server: "web", url: new URL(server.url), store, open: browse, ...options });

async function mounted(): Promise<{ mount: McpMount; registry: ToolRegistry }> {
  const mount = await mountMcp({ mcpServers: { web: { url: server.url } } }, { logins: store });
  cleanups.push(() => mount.close());
  return { mount, registry: new ToolRegistry(mount.tools) };
}

const loginNeeded = "MCP server web asks for a login: toolcrib mcp login web";

/** Matches what must never be shown. */
const secrets = (): RegExp => /(?:access|refresh|code)-[0-9a-f]{8}-|code_verifier=\w/;

describe("a server that asks for a login", () => {
  test("is refused without one in one sentence, and no client is registered for that", async () => {
    const { mount } = await mounted();
    expect(mount.problems.map(({ code, message }) => [code, message])).toEqual([["login_required", loginNeeded]]);
    expect(authorization.requests).toEqual([]);
  });

  test("serves its tools after a login, whose token only the user can read", async () => {
    const kept = await logIn();
    expect(kept).toMatchObject({ issuer: authorization.url, tokenEndpoint: `${authorization.url}/token` });
    expect(authorization.tokens.get(kept.accessToken)).toBe(server.url);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { mount, registry } = await mounted();
    expect(mount.problems).toEqual([]);
    expect(await registry.execute("mcp__web__echo", { text: "hi" })).toBe("hi");
  });

  test("is logged in at by the usual addresses where its authorization server has no metadata", async () => {
    authorization.options = { metadata: "none" };
    const kept = await logIn();
    expect(kept).toMatchObject({ issuer: authorization.url, tokenEndpoint: `${authorization.url}/token` });
    authorization.tokens.clear();
    expect((await mounted()).mount.problems).toEqual([]);
  });

  test.each([{ versionNegotiation: "auto" }, { type: "sse" }])("asks for it over %j as well", async (other) => {
    const { type, ...options } = { type: undefined, ...other } as { type?: string; versionNegotiation?: "auto" };
    const config = { mcpServers: { web: { url: server.url, ...(type && { type }) } } };
    const mount = await mountMcp(config, { logins: store, ...options });
    cleanups.push(() => mount.close());
    expect(mount.problems.map(({ message }) => message)).toEqual([loginNeeded]);
    if (type) return;
    await logIn();
    const after = await mountMcp(config, { logins: store, ...options });
    cleanups.push(() => after.close());
    expect(after.problems).toEqual([]);
  });

  test("gets a renewed token when the old one has run out, and the new one is kept", async () => {
    const first = await logIn();
    authorization.tokens.clear();
    const { registry } = await mounted();
    expect(await registry.execute("mcp__web__echo", { text: "hi" })).toBe("hi");
    const second = await store.load(new URL(server.url));
    expect(second?.accessToken).not.toBe(first.accessToken);
    await store.save(new URL(server.url), { ...(second ?? first), expiresAt: Date.now() });
    const before = server.seen.length;
    expect(await registry.execute("mcp__web__echo", { text: "again" })).toBe("again");
    // Not sent at all any more.
    expect(server.seen.slice(before)).not.toContain(`Bearer ${second?.accessToken}`);
  });

  test("gets one renewed token from several connections at once, as a refresh token is good for one use", async () => {
    await logIn();
    authorization.tokens.clear();
    const mounts = await Promise.all([mounted(), mounted(), mounted()]);
    for (const { mount } of mounts) expect(mount.problems).toEqual([]);
    expect(authorization.requests.filter((request) => request.endsWith("refresh_token"))).toHaveLength(1);
  });

  test("asks for a new login when the token and its renewal are refused, also in mid-conversation", async () => {
    await logIn();
    const { registry } = await mounted();
    const login = await store.load(new URL(server.url));
    await fetch(`${authorization.url}/revoke`, {
      method: "POST",
      body: new URLSearchParams({ token: String(login?.refreshToken) }),
    });
    // Last, as the connection's own stream may ask for a new token at any time.
    authorization.tokens.clear();
    const outcome = await registry.execute("mcp__web__echo", { text: "hi" });
    expect(outcome).toBe(`Error executing mcp__web__echo: ${loginNeeded}`);
    expect(await store.load(new URL(server.url))).toBeUndefined();
  });

  test("never sees its token in an error, though it repeats it", async () => {
    await logIn();
    const login = await store.load(new URL(server.url));
    if (login) await store.save(new URL(server.url), { ...login, refreshToken: undefined });
    authorization.tokens.clear();
    const { mount } = await mounted();
    expect(mount.problems[0]?.message).toBe(loginNeeded);
    expect(JSON.stringify(mount.problems)).not.toMatch(secrets());
  });
});

describe("a client", () => {
  test("that was registered beforehand is used as it is, at the port that it was registered with", async () => {
    const kept = await logIn({ clientId: "our-client" });
    expect(kept.clientId).toBe("our-client");
    expect(authorization.requests).not.toContain("POST /register");
  });

  test("is named by the address of its metadata where the authorization server reads that, and else registered", async () => {
    const clientId = "https://tool.example/client.json";
    expect((await logIn({ clientId })).clientId).toMatch(/^client-/);
    authorization.options = { metadata: { client_id_metadata_document_supported: true } };
    expect((await logIn({ clientId })).clientId).toBe(clientId);
  });
});

test("an entry with an Authorization header of its own is taken at its word: no login is used, and none is made", async () => {
  await logIn();
  const headers = { Authorization: "Bearer own" };
  const mount = await mountMcp({ mcpServers: { web: { url: server.url, headers } } }, { logins: store });
  cleanups.push(() => mount.close());
  expect(mount.problems).toMatchObject([{ code: "server_failed" }]);
  expect(server.seen.at(-1)).toBe("Bearer own");
  await expect(logIn({ headers })).rejects.toThrow(/sends its own Authorization header/);
});

test("a server that asks for no login is said so", async () => {
  const open = await serveMcp(createFixtureRegistry(), { http: { auth: false } });
  cleanups.push(() => open.close());
  await expect(logIn({ url: new URL(String(open.url)) })).rejects.toThrow(/failed: it requires no login/);
});

describe("attacks on a login", () => {
  test("an answer with a foreign state, another path, method or host changes nothing, and the login goes on", async () => {
    const answers: number[] = [];
    const open = async (address: URL): Promise<void> => {
      const redirect = String(address.searchParams.get("redirect_uri"));
      const state = String(address.searchParams.get("state"));
      for (const [url, init] of [
        [`${redirect}?code=evil&state=${"x".repeat(state.length)}`],
        [`${redirect}?code=evil`],
        [`${redirect}?code=evil&code=worse&state=${state}`],
        [`${redirect}/x?code=evil&state=${state}`],
        [`${redirect}?code=evil&state=${state}`, { method: "POST" }],
        [`${redirect.replace("127.0.0.1", "localhost")}?code=evil&state=${state}`],
      ] as const)
        answers.push(
          await fetch(url, init).then(
            ({ status }) => status,
            () => 400,
          ),
        );
      browse(address);
    };
    const kept = await logIn({ open: (address) => void open(address) });
    expect(answers).toEqual([400, 400, 400, 400, 400, 400]);
    expect(kept.accessToken).toMatch(/^access-/);
    expect(authorization.requests.filter((request) => request.includes("authorization_code"))).toHaveLength(1);
  });

  test("a user who refuses ends the login, with a word of the server's and nothing else", async () => {
    const open = (address: URL): void => {
      const back = new URL(String(address.searchParams.get("redirect_uri")));
      back.searchParams.set("error", "access_denied");
      back.searchParams.set("error_description", "<script>");
      back.searchParams.set("state", String(address.searchParams.get("state")));
      browse(back);
    };
    await expect(logIn({ open })).rejects.toThrow(
      "The login at the MCP server web failed: the authorization server refused: access_denied",
    );
  });

  test("a token endpoint of another origin than the login page gets neither code nor verifier, unless it is trusted", async () => {
    const other = await AuthorizationServer.start();
    cleanups.push(() => other.close());
    authorization.options = { metadata: { token_endpoint: `${other.url}/token` } };
    await expect(logIn()).rejects.toThrow(/The token endpoint \S+ is not where you would log in/);
    expect(authorization.requests).not.toContain("POST /register");
    expect(other.requests).toEqual([]);
    await expect(logIn({ trust: [other.url] })).rejects.toThrow(/invalid_grant|Invalid|failed/);
    expect(other.requests).toContain("POST /token authorization_code");
  });

  test("an answer that names another issuer is refused before the code is used", async () => {
    authorization.options = { iss: "https://other.example" };
    await expect(logIn()).rejects.toMatchObject({ code: "login_failed" });
    expect(authorization.requests).not.toContain("POST /token authorization_code");
  });

  test.each([
    ["the login page", { authorization_endpoint: "http://evil.example/authorize" }],
    ["the login page", { authorization_endpoint: "file:///etc/passwd" }],
    ["the token endpoint", { token_endpoint: "http://evil.example/token" }],
    ["the registration endpoint", { registration_endpoint: "file:///tmp/x" }],
    ["the login page", { authorization_endpoint: `https://evil.example/${"x".repeat(10_000)}` }],
    ["the login page", { authorization_endpoint: "https://user:pass@evil.example/" }],
  ])("metadata that names %s as %j is refused before anything is registered or opened", async (_what, metadata) => {
    authorization.options = { metadata };
    const opened: URL[] = [];
    await expect(logIn({ open: (address) => void opened.push(address) })).rejects.toMatchObject({
      code: "login_failed",
    });
    expect(authorization.requests).toEqual(["GET /.well-known/oauth-authorization-server"]);
    expect(opened).toEqual([]);
  });

  test.each(["http://evil.example", "file:///etc", "javascript:alert(1)", "not an address"])(
    "a server that names %s as its authorization server is refused",
    async (address) => {
      server.authorizationServer = address;
      await expect(logIn()).rejects.toMatchObject({ code: "login_failed" });
      expect(authorization.requests).toEqual([]);
    },
  );

  test.each(["file:///etc/passwd", "http://evil.example/metadata"])(
    "a server that names its metadata at %s is refused, and nothing is guessed in its place",
    async (address) => {
      server.challenge = `resource_metadata="${address}"`;
      await expect(logIn()).rejects.toThrow(/an https address is expected/);
      expect(authorization.requests).toEqual([]);
    },
  );

  test("a server that names another authorization server later gets nothing sent there", async () => {
    await logIn();
    authorization.tokens.clear();
    const other = await AuthorizationServer.start();
    cleanups.push(() => other.close());
    server.authorizationServer = other.url;
    const { mount } = await mounted();
    expect(mount.problems).toEqual([]);
    expect(other.requests).toEqual([]);
    expect(authorization.requests).toContain("POST /token refresh_token");
    // A login there begins anew: with a client and tokens of its own.
    const kept = await logIn();
    expect(kept.issuer).toBe(other.url);
    expect(other.requests.filter((request) => request.startsWith("POST"))).toEqual([
      "POST /register",
      "POST /token authorization_code",
    ]);
  });

  test("two logins at once do not meet, and the file holds a whole one", async () => {
    const [one, two] = await Promise.all([logIn(), logIn()]);
    expect(one.clientId).not.toBe(two.clientId);
    expect([one.accessToken, two.accessToken]).toContain((await store.load(new URL(server.url)))?.accessToken);
  });

  test("a file that others can write gives no token, takes none, and stays as it is", async () => {
    await logIn();
    chmodSync(path, 0o666);
    const before = readFileSync(path, "utf8");
    await expect(store.load(new URL(server.url))).rejects.toThrow(/not trusted: others can write it/);
    const { mount } = await mounted();
    expect(mount.problems[0]?.message).toMatch(/not trusted: others can write it/);
    expect(server.seen.at(-1) ?? "").not.toMatch(/^Bearer access/);
    await expect(logIn()).rejects.toThrow(/not trusted: others can write it/);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test.each([
    ["a huge answer", { access_token: "x".repeat(1_000_000) }, /more than 262144 bytes/],
    ["a huge token", { access_token: "x".repeat(100_000) }, /a token of more than 32768 characters/],
    ["a token with a line break", { access_token: "a\r\nX-Evil: 1" }, /a token that cannot be sent in a header/],
    ["a token of another type", { token_type: "mac" }, /not of the type bearer/],
  ])("%s in place of tokens is refused without being quoted", async (_what, tokens, says) => {
    authorization.options = { tokens };
    const failed = await logIn().catch((error: Error) => error);
    expect(String(failed)).toMatch(says);
    expect(String(failed)).not.toMatch(/xxxx|X-Evil/);
    expect(await store.load(new URL(server.url))).toBeUndefined();
  });

  test("what the authorization server repeats of the code and the verifier is not in the error", async () => {
    const open = (address: URL): void => {
      const back = new URL(String(address.searchParams.get("redirect_uri")));
      back.searchParams.set("code", "code-0123abcd-is-not-good");
      back.searchParams.set("state", String(address.searchParams.get("state")));
      browse(back);
    };
    const failed = (await logIn({ open }).catch((error: Error) => error)) as Error;
    expect(failed.message).toMatch(/^The login at the MCP server web failed: grant_type=authorization_code/);
    expect(failed.message).not.toMatch(secrets());
    expect(JSON.stringify(failed)).not.toMatch(secrets());
  });

  test("nobody who logs in, and an abort, end the login", async () => {
    await expect(logIn({ open: () => undefined, timeoutMs: 200 })).rejects.toThrow(
      /nobody logged in before the time limit/,
    );
    const controller = new AbortController();
    const open = (): void => controller.abort(new Error("interrupted"));
    await expect(logIn({ open, signal: controller.signal })).rejects.toThrow("interrupted");
  });
});
