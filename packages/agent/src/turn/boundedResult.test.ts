import { toolOutput } from "@toolcrib/core";
import { expect, test } from "vitest";
import { agentOf, read, registryOf } from "../../testing/turns.ts";
import type { ToolMessage } from "../messages.ts";
import type { AgentOptions } from "../options.ts";
import { boundedResult } from "./boundedResult.ts";

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

async function resultOf(execute: () => unknown, options: AgentOptions = {}) {
  const call = { calls: [{ id: "a", name: "pour" }] };
  const { agent, provider } = agentOf([call, "ok"], { tools: registryOf({ pour: execute }), ...options });
  const events = await read(agent.streamChat("go"));
  const event = events.find((one) => one.type === "tool-result");
  const inHistory = agent.sessionContext.find((one): one is ToolMessage => one.role === "tool");
  expect(provider.requests[1]?.messages).toContain(inHistory);
  return { event, inHistory };
}

test("of a result of 3 MB, 256 KB reach the conversation, with a notice", async () => {
  const { event, inHistory } = await resultOf(() => "0123456789abcde\n".repeat((3 * megabyte) / 16));
  const notice = `\n[truncated: shown ${256 * kilobyte} of ${3 * megabyte} bytes]`;
  expect(inHistory?.output.endsWith(notice)).toBe(true);
  expect(inHistory?.output).toHaveLength(256 * kilobyte + notice.length);
  expect(event?.output).toBe(inHistory?.output);
});

test("the limit is an option, and Infinity removes it", async () => {
  const pour = (): string => "x".repeat(megabyte);
  const { inHistory } = await resultOf(pour, { maxToolResultBytes: 1000 });
  expect(inHistory?.output).toBe(`${"x".repeat(1000)}\n\n[truncated: shown 1000 of ${megabyte} bytes]`);
  const all = await resultOf(pour, { maxToolResultBytes: Number.POSITIVE_INFINITY });
  expect(all.inHistory?.output).toHaveLength(megabyte);
});

test("an output that its tool has cut keeps its own notice", async () => {
  const page = `${"x".repeat(1000)}\n\n[truncated: shown 1 of 9 lines; pass offset=2 to continue]`;
  expect((await resultOf(() => page, { maxToolResultBytes: 1000 })).inHistory?.output).toBe(page);
});

test("3 MB of rich content are bounded too: text is cut, a picture that is too large is left out", async () => {
  const small = { type: "image", data: "aGk=", mimeType: "image/png" } as const;
  const { event, inHistory } = await resultOf(() =>
    toolOutput("text", {
      content: [
        { type: "image", data: "A".repeat(6 * megabyte), mimeType: "image/png" },
        { type: "text", text: "y".repeat(3 * megabyte) },
        small,
        { type: "text", text: "more" },
      ],
    }),
  );
  expect(JSON.stringify(inHistory).length).toBeLessThan(257 * kilobyte);
  expect(inHistory?.content).toEqual([
    { type: "text", text: expect.stringMatching(/^y+\n\n\[truncated: shown 262144 of 3145728 bytes\]$/) },
    small,
    { type: "text", text: "[truncated: shown 2 of 4 blocks]" },
  ]);
  expect(event?.content).toEqual(inHistory?.content);
});

test("a picture of ordinary size is kept whole", async () => {
  const content = [{ type: "image", data: "A".repeat(4 * megabyte), mimeType: "image/png" } as const];
  expect((await resultOf(() => toolOutput("text", { content }))).inHistory?.content).toEqual(content);
});

test("too many blocks, and unknown fields, are left out", async () => {
  const bloated = { type: "text", text: "", annotations: "x".repeat(megabyte) } as const;
  const { content } = await boundedResult({ output: "", content: new Array(100_000).fill(bloated) }, 1000);
  expect(content).toHaveLength(101);
  expect(content?.[0]).toEqual({ type: "text", text: "" });
  expect(content?.at(-1)).toEqual({ type: "text", text: "[truncated: shown 100 of 100000 blocks]" });
});
