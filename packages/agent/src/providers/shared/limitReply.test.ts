import { answerWith, sharedWireServer, wireFormats } from "@toolcrib/testing";
import { describe, expect, test, vi } from "vitest";
import { wireProvider } from "../../../testing/wireFaultRun.ts";
import { Agent } from "../../agent.ts";
import { createPartLimit, createStreamLimit } from "./serviceFetch.ts";

const server = await sharedWireServer();

const megabyte = Buffer.alloc(2 ** 20, "x");
const line = Buffer.concat([Buffer.from("data: "), Buffer.alloc(9 * 2 ** 20, "x")]);
const [events, json] = ["text/event-stream; charset=utf-8", "application/json"];

/** Pieces that a service may send again and again, without an end. */
const endless: [what: string, stream: boolean, type: string, status: number, chunk: Uint8Array, says: RegExp][] = [
  ["a line of a stream", true, events, 200, line, /one event .* 8 MB/],
  ["a stream of no type", true, "", 200, line, /one event .* 8 MB/],
  ["a whole reply", false, json, 200, megabyte, /the reply is larger than 64 MB/],
  ["a whole reply to a stream", true, json, 200, megabyte, /the reply is larger than 64 MB/],
  ["a stream in place of a whole reply", false, events, 200, Buffer.from("data: "), /text\/event-stream instead/],
  ["a refusal", true, json, 400, megabyte, /status 400 .* 1 MB/],
  ["a failure", true, events, 500, megabyte, /status 500 .* 1 MB/],
];

describe.each(wireFormats)("over the %s wire", (format) => {
  test.each(endless)("%s without an end is dropped, not requested again, and the agent goes on", async (...row) => {
    const [, stream, type, status, chunk, says] = row;
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
    const answer = new Response(body, { status, headers: type === "" ? {} : { "content-type": type } });
    const asked = vi.spyOn(globalThis, "fetch").mockResolvedValueOnce(answer);
    const agent = new Agent(wireProvider(format, server.url, { stream }));
    await expect(agent.chat("Hello")).rejects.toMatchObject({
      code: "bad_reply",
      retryable: false,
      message: expect.stringMatching(says),
    });
    expect(asked).toHaveBeenCalledTimes(1);
    asked.mockRestore();
    server.script(answerWith({ text: "Here." }));
    expect(await agent.chat("Again")).toBe("Here.");
  });
});

test("each event is counted by itself, however its bytes are split", () => {
  const event = Buffer.concat([megabyte, megabyte, Buffer.from("\r\n\r\n")]);
  for (const size of [event.length, event.length - 1, event.length - 2, 700_001]) {
    const count = createStreamLimit();
    for (let round = 0; round < 6; round += 1)
      for (let at = 0; at < event.length; at += size) count(event.subarray(at, at + size));
    for (let left = 0; left < 8; left += 1) count(megabyte);
    expect(() => count(megabyte)).toThrow(/one event of the reply is larger than 8 MB/);
    const countAll = createStreamLimit();
    for (let round = 0; round < 31; round += 1) countAll(event);
    expect(() => countAll(event)).toThrow(/the reply is larger than 64 MB/);
  }
});

test("parts that hold nothing count as well", () => {
  const count = createPartLimit();
  const fill = (times: number): void => {
    for (let part = 0; part < times; part += 1) count({ type: "text-delta", id: "1", delta: "" });
  };
  fill(2 ** 19);
  expect(() => fill(2 ** 20)).toThrow(/the reply is larger than 64 MB/);
});
