import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AuthorizationServer, temporaryFolder } from "@toolcrib/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createOAuthStore, logout, type OAuthStore, openBrowser } from "../oauth.ts";
import type { OAuthLogin } from "./oauthStore.ts";

const url = new URL("http://127.0.0.1:9/mcp");
let authorization: AuthorizationServer;
let store: OAuthStore;
let kept: OAuthLogin;

beforeEach(async () => {
  authorization = await AuthorizationServer.start();
  store = createOAuthStore(join(temporaryFolder("logout"), "logins.json"));
  authorization.tokens.set("access-1", null);
  kept = {
    issuer: authorization.url,
    tokenEndpoint: `${authorization.url}/token`,
    revocationEndpoint: `${authorization.url}/revoke`,
    clientId: "c",
    accessToken: "access-1",
    refreshToken: "refresh-1",
  };
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await authorization.close();
});

test("a logout forgets the login, and has its tokens taken back", async () => {
  await store.save(url, kept);
  await store.save(new URL("https://other.example/"), kept);
  expect(await logout(url, store)).toBe("revoked");
  expect(await store.load(url)).toBeUndefined();
  expect(await store.load(new URL("https://other.example/"))).toEqual(kept);
  expect(authorization.tokens.size).toBe(0);
  expect(await logout(url, store)).toBe("none");
});

test("the login is forgotten also where the authorization server is gone, and no token goes to another origin", async () => {
  const other = await AuthorizationServer.start();
  await store.save(url, { ...kept, revocationEndpoint: `${other.url}/revoke` });
  expect(await logout(url, store)).toBe("forgotten");
  expect(other.requests).toEqual([]);
  await other.close();
  await store.save(url, { ...kept, tokenEndpoint: "http://127.0.0.1:9/", revocationEndpoint: "http://127.0.0.1:9/" });
  expect(await logout(url, store)).toBe("forgotten");
  expect(await store.load(url)).toBeUndefined();
});

test.each(["", "{", "[]", '{"logins":[]}', '{"logins":{"http://127.0.0.1:9/mcp":{"accessToken":7}}}'])(
  "a file that holds %j holds no login, and is replaced",
  async (text) => {
    const path = join(temporaryFolder("store"), "logins.json");
    writeFileSync(path, text, { mode: 0o600 });
    const own = createOAuthStore(path);
    expect(await own.load(url)).toBeUndefined();
    await own.save(url, kept);
    expect(await own.load(url)).toEqual(kept);
  },
);

test("a browser gets the address as one word, where there is a screen; other kinds of address open nothing", async () => {
  const folder = temporaryFolder("browser");
  const program = join(folder, "xdg-open");
  writeFileSync(program, `#!/bin/sh\nprintf '%s|' "$#" "$1" > ${folder}/new && mv ${folder}/new ${folder}/opened\n`);
  chmodSync(program, 0o755);
  vi.stubEnv("PATH", `${folder}:${process.env.PATH}`);
  const address = new URL("https://auth.example/?a=1&b=$(touch%20x)'\";c");
  const screen = { ...process.env, DISPLAY: ":0" };
  expect(openBrowser(address, { ...process.env, DISPLAY: "", WAYLAND_DISPLAY: "" })).toBe(false);
  expect(openBrowser(new URL("file:///etc/passwd"), screen)).toBe(false);
  expect(openBrowser(address, screen)).toBe(true);
  const opened = (): string => {
    try {
      return readFileSync(join(folder, "opened"), "utf8");
    } catch {
      return "";
    }
  };
  await expect.poll(opened).toBe(`1|${address.href}|`);
});
