import { Chat } from "@ai-sdk/react";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { DefaultChatTransport } from "ai";
import { afterEach, expect, test, vi } from "vitest";
import { base, post, say, startServer, textOf } from "../testing/server.ts";
import { fetchWhole } from "./client.ts";

afterEach(() => vi.unstubAllGlobals());

const headers = { "content-type": "text/event-stream", "x-vercel-ai-ui-message-stream": "v1" };

/** Sends a message from a page whose server answers with these bytes, and then ends as if that were all. */
async function pageOf(bytes: Uint8Array): Promise<Chat<never>> {
  vi.stubGlobal("fetch", async () => new Response(bytes.slice(), { headers }));
  const chat = new Chat<never>({
    transport: new DefaultChatTransport({ api: base, fetch: fetchWhole }),
    onError: () => {},
  });
  await chat.sendMessage({ text: "hi" });
  return chat;
}

test("a connection that is cut off at any byte is an error in the page, and the whole answer is none", async () => {
  const server = startServer(temporaryFolder("page"), [{ text: "Größe: 10", calls: [{ name: "look" }] }, "Done."]);
  const whole = new Uint8Array(await (await server.handle(post(say("hi")))).arrayBuffer());
  expect((await pageOf(whole)).status).toBe("ready");
  for (let length = 0; length < whole.length; length += 1) {
    const page = await pageOf(whole.subarray(0, length));
    expect(page.status, `${length} of ${whole.length} bytes`).toBe("error");
  }
  expect(textOf((await pageOf(whole)).lastMessage)).toBe("Größe: 10Done.");
});

test("what is no stream is left as it is", async () => {
  vi.stubGlobal("fetch", async () => Response.json([1]));
  expect(await (await fetchWhole(base)).json()).toEqual([1]);
  vi.stubGlobal("fetch", async () => new Response("refused", { status: 403 }));
  expect((await fetchWhole(base)).status).toBe(403);
});
