import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServerType, serve } from "@hono/node-server";
import type { Provider } from "@toolcrib/agent";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createApp } from "./server.ts";

let root: string;
let server: ServerType | undefined;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "web-"));
  writeFileSync(join(root, "note.txt"), "heron\n");
});
afterEach(async () => {
  const closed = server && once(server, "close");
  server?.close();
  await closed;
  server = undefined;
  rmSync(root, { recursive: true });
});

async function start(provider: Provider): Promise<string> {
  server = serve({ fetch: createApp(provider, root).fetch, hostname: "127.0.0.1", port: 0 });
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ask = (url: string, body: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${url}/ask`, { method: "POST", headers: { "Content-Type": "application/json" }, body, ...init });
const question = JSON.stringify({ question: "What does the note say?" });

test("a question is answered by events as they happen, the calls of real tools among them", async () => {
  const url = await start(
    new ScriptedProvider([{ calls: [{ name: "read_file", args: { path: "note.txt" } }] }, "It says heron."]),
  );
  const reply = await ask(url, question);
  expect(reply.headers.get("content-type")).toContain("text/event-stream");
  const events = (await reply.text())
    .trim()
    .split("\n\n")
    .map((event) =>
      JSON.parse(
        event
          .split("\n")
          .find((line) => line.startsWith("data: "))
          ?.slice(6) ?? "",
      ),
    );
  expect(events).toContainEqual(expect.objectContaining({ type: "tool-call", name: "read_file" }));
  expect(events).toContainEqual(expect.objectContaining({ type: "tool-result", output: "heron\n" }));
  expect(events.at(-1)).toMatchObject({ type: "end", text: "It says heron." });
});

test("a reader who leaves ends the request to the model", async () => {
  let ended: ((reason: unknown) => void) | undefined;
  const aborted = new Promise((resolve) => {
    ended = resolve;
  });
  const model = new ScriptedProvider([
    ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => [ended?.("aborted"), reject(signal.reason)])),
  ]);
  const url = await start(model);
  const leave = new AbortController();
  const reply = await ask(url, question, { signal: leave.signal });
  await vi.waitUntil(() => model.requests.length > 0, 60_000);
  leave.abort();
  await reply.text().catch(() => undefined);
  expect(await aborted).toBe("aborted");
});

test("a failure is an event, and what is no question is refused", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const url = await start(new ScriptedProvider([new Error("no such model")]));
  const text = await (await ask(url, question)).text();
  expect(text).toContain("event: failure");
  expect(text).toContain("The provider scripted failed: no such model");
  for (const body of ["", "{}", '{"question":" "}', "[1]"]) expect((await ask(url, body)).status).toBe(400);
  expect((await ask(url, "x".repeat(200_000))).status).toBe(413);
  log.mockRestore();
});

test("the page is served to this machine alone", async () => {
  const url = await start(new ScriptedProvider([]));
  expect(await (await fetch(url)).text()).toContain("Ask about the files");
  const foreign = { headers: { "Content-Type": "text/plain", Origin: "https://evil.example" } };
  expect((await ask(url, question, foreign)).status).toBe(403);
  const app = createApp(new ScriptedProvider([]), root);
  expect((await app.request("http://evil.example/", { headers: { Host: "evil.example" } })).status).toBe(403);
});
