import { expect, test } from "vitest";
import { createFixtureRegistry } from "../../fixtures/registry.ts";
import { createProtocolServer } from "../server/protocolServer.ts";
import { RegistriesByRoots } from "../server/registriesByRoots.ts";
import { HttpSessions } from "./httpSessions.ts";

const registries = new RegistriesByRoots(createFixtureRegistry());
const open = (): HttpSessions =>
  new HttpSessions(() => createProtocolServer(registries, { name: "test", version: "1" }), 1000);

const post = (message: object, session?: string | null): Request =>
  new Request("http://localhost/mcp", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session ? { "mcp-session-id": session } : {}),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
  });
const clientInfo = { name: "test", version: "1" };
const initialize = {
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
};

test("the 257th session replaces the one used least recently", async () => {
  const sessions = open();
  const start = async (): Promise<string | null> =>
    (await sessions.handle(post(initialize))).headers.get("mcp-session-id");
  const [first, second] = [await start(), await start()];
  for (let count = 2; count < 256; count += 1) await start();
  const ping = async (session: string | null): Promise<number> =>
    (await sessions.handle(post({ method: "ping" }, session))).status;
  expect(await ping(first)).toBe(200);
  await start();
  expect(await ping(second)).toBe(404);
  expect(await ping(first)).toBe(200);
  await sessions.close();
  expect(await ping(first)).toBe(404);
});

test("without a session nothing but initialize is answered, and nothing is kept", async () => {
  const sessions = open();
  for (const message of [{ method: "tools/list" }, { method: "ping" }, {}]) {
    expect((await sessions.handle(post(message))).status).toBe(400);
  }
  expect((await sessions.handle(new Request("http://localhost/mcp"))).status).toBeGreaterThanOrEqual(400);
});

test("a body beyond the limit is refused before it is parsed", async () => {
  const long = { ...initialize, padding: "x".repeat(2000) };
  expect((await open().handle(post(long))).status).toBe(413);
});
