import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HttpAgent } from "@ag-ui/client";
import { ScriptedProvider, type ScriptedReply } from "@toolcrib/agent/testing";
import type { Hono } from "hono";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createApp } from "./server.ts";

let folder: string;
let journals: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "chat-"));
  journals = mkdtempSync(join(tmpdir(), "journals-"));
  writeFileSync(join(folder, "note.txt"), "heron\n");
});
afterEach(() => {
  for (const one of [folder, journals]) rmSync(one, { recursive: true });
});

const start = (replies: readonly ScriptedReply[]): Promise<Hono> =>
  createApp({ provider: new ScriptedProvider(replies), root: folder, journals });
const own = { Host: "localhost" };
const reading: ScriptedReply = { calls: [{ name: "read_file", args: { path: "note.txt" } }] };
const writing: ScriptedReply = { calls: [{ name: "write_file", args: { path: "new.txt", content: "new\n" } }] };

function send(app: Hono, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const init = { method: "POST", headers: { ...own, "Content-Type": "application/json", ...headers } };
  return Promise.resolve(app.request("http://localhost/ai-sdk", { ...init, body: JSON.stringify(body) }));
}

const message = { id: "chat", messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "Read it." }] }] };

test("the page, its style and its script are served to this machine alone", async () => {
  const app = await start([]);
  const page = await app.request("http://localhost/", { headers: own });
  expect(await page.text()).toContain("<title>Chat about chat-");
  expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
  for (const path of ["/page.css", "/page.js"])
    expect((await app.request(`http://localhost${path}`, { headers: own })).status).toBe(200);
  expect((await app.request("http://evil.example/", { headers: { Host: "evil.example" } })).status).toBe(403);
  expect((await send(app, message, { Origin: "https://evil.example" })).status).toBe(403);
});

test("one chat is read over both protocols, and a question of the one is answered over the other", async () => {
  const app = await start([reading, "It says heron.", writing, "Written."]);
  expect(await (await send(app, message)).text()).toContain('"delta":"heron."');
  await (await send(app, message)).text();
  const history = await app.request("http://localhost/ag-ui/chat", { headers: own });
  const { interrupts } = (await history.json()) as { interrupts: { id: string; message: string }[] };
  expect(interrupts.map((one) => one.message)).toEqual([expect.stringContaining("would write new.txt")]);
  const fetch = async (url: string, init: RequestInit): Promise<Response> =>
    await app.request(url, { ...init, headers: { ...own, ...(init.headers as Record<string, string>) } });
  const agent = new HttpAgent({ url: "http://localhost/ag-ui", threadId: "chat", fetch });
  const resume = interrupts.map(({ id }) => ({ interruptId: id, status: "resolved" as const, payload: true }));
  await agent.runAgent({ resume });
  expect(agent.messages.at(-1)?.content).toBe("Written.");
  expect(readFileSync(join(folder, "new.txt"), "utf8")).toBe("new\n");
});

test("what a call would touch is told in words, and nothing of a path outside", async () => {
  const app = await start([]);
  const effects = async (name: string, args: object): Promise<unknown> => {
    const init = { method: "POST", headers: { ...own, "Content-Type": "application/json" } };
    const reply = await app.request("http://localhost/effects", { ...init, body: JSON.stringify({ name, args }) });
    return await reply.json();
  };
  expect(await effects("write_file", { path: "a/b.txt", content: "" })).toEqual(["write a/b.txt"]);
  expect(await effects("read_file", { path: "/etc/passwd" })).toEqual([]);
  expect(await effects("absent", {})).toEqual([]);
});
