import type { ServerResponse } from "node:http";
import { sharedServer } from "@toolcrib/testing/temporaryServer";
import { expect, test, vi } from "vitest";
import { activityFetch } from "./serviceFetch.ts";

let respond: (response: ServerResponse) => void;
const url = await sharedServer((_, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  respond(response);
});

/** Reads the first bytes, and leaves the rest, as an SDK does after the last event. */
async function readFirst(): Promise<string> {
  const response = await activityFetch(url);
  const body = response.body as unknown as AsyncIterable<Uint8Array>;
  for await (const bytes of body) return Buffer.from(bytes).toString();
  throw new Error("no bytes");
}

test("a stream that is left at its last event is read to its end, not cancelled, where that has come with it", async () => {
  const cancel = vi.spyOn(ReadableStreamDefaultReader.prototype, "cancel");
  respond = (response) => response.end("data: [DONE]\n\n");
  for (let request = 0; request < 5; request += 1) expect(await readFirst()).toBe("data: [DONE]\n\n");
  // On a busy machine the end may come later than the event.
  expect(cancel.mock.calls.length).toBeLessThan(5);
  cancel.mockRestore();
});

test("a stream that goes on after its last event is cancelled at once", async () => {
  const closed = new Promise((resolve) => {
    respond = (response) => {
      response.on("close", resolve);
      response.write("data: [DONE]\n\n");
    };
  });
  expect(await readFirst()).toBe("data: [DONE]\n\n");
  await closed;
});
