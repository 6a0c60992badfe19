import { describe, expect, test } from "vitest";
import {
  answerWith,
  jsonOf,
  sharedWireServer,
  streamOf,
  type WireAnswer,
  wireFormats,
  wireProvider,
} from "../../../../../testing/src/index.ts";
import { Agent } from "../../agent.ts";
import { createStreamLimit } from "./limitReply.ts";

const server = await sharedWireServer();

const megabyte = Buffer.alloc(2 ** 20, "x");
const megabytes = (count: number): Uint8Array[] => Array.from({ length: count }, () => megabyte);
/** Comments, each a whole event: nothing of them is kept. */
const comments = Array.from({ length: 65 }, () => Buffer.concat([Buffer.from(":"), megabyte, Buffer.from("\n\n")]));
const json = { "content-type": "application/json" };

/** What a service may send without an end; it waits for a reader that has had enough. */
const endless: [what: string, stream: boolean, answer: WireAnswer, says: RegExp][] = [
  ["a line of a stream", true, streamOf(["data: ", ...megabytes(9)], { end: "hang" }), /one event .* 8 MB/],
  ["a stream", true, streamOf(comments, { end: "hang" }), /the reply is larger than 64 MB/],
  ["a stream of no type", true, streamOf(megabytes(9), { headers: {}, end: "hang" }), /one event .* 8 MB/],
  ["a whole reply", false, jsonOf({}, { chunks: megabytes(65), end: "hang" }), /the reply is larger than 64 MB/],
  ["a whole reply to a stream", true, { headers: json, chunks: megabytes(65), end: "hang" }, /larger than 64 MB/],
  ["a stream in place of a whole reply", false, streamOf(["data: "], { end: "hang" }), /text\/event-stream instead/],
  ["a refusal", true, { status: 400, headers: json, chunks: megabytes(2), end: "hang" }, /status 400 .* 1 MB/],
  ["a failure", true, { ...streamOf(megabytes(2), { end: "hang" }), status: 500 }, /status 500 .* 1 MB/],
];

describe.each(wireFormats)("over the %s wire", (format) => {
  test.each(endless)("%s without an end is dropped, not requested again, and the agent goes on", async (...row) => {
    const [, stream, answer, says] = row;
    server.script(answer, answerWith({ text: "Here." }));
    const agent = new Agent(wireProvider(format, server.url, { stream }));
    await expect(agent.chat("Hello")).rejects.toMatchObject({
      code: "bad_reply",
      retryable: false,
      message: expect.stringMatching(says),
    });
    expect(server.requests).toHaveLength(1);
    expect(await agent.chat("Again")).toBe("Here.");
    expect(server.problems()).toEqual([]);
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
  }
});
