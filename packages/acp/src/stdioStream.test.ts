import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { stdioStream } from "./serveAcp.ts";

test("half a character is written as a replacement, which every JSON reader takes, and a code in a text stays", async () => {
  const output = new PassThrough();
  const { writable } = stdioStream(new PassThrough(), output);
  const writer = writable.getWriter();
  const params = { half: "a\ud83d", other: "\ude00\\", whole: "\u{1f600}", text: "\\ud83d \\\\ud83d" };
  await writer.write({ jsonrpc: "2.0", method: "x", params });
  const line = String(output.read());
  expect(JSON.parse(line).params).toEqual({ ...params, half: "a\ufffd", other: "\ufffd\\" });
});

test("a pipe that is broken fails the write", async () => {
  const output = new PassThrough();
  output.on("error", () => {});
  const { writable } = stdioStream(new PassThrough(), output);
  output.destroy();
  await expect(writable.getWriter().write({ jsonrpc: "2.0", method: "x" })).rejects.toThrow();
});
