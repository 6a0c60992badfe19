import { type ToolRegistry, toolOutput } from "@toolcrib/core";
import { readImageHeader } from "@toolcrib/kit/text";
import { drawPicture } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { asksForSummary, outputs, registryOf } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import { AgentError } from "../errors.ts";
import type { ImageBlock, Message } from "../messages.ts";
import { assertConversation, ScriptedProvider, type ScriptedReply } from "../testing.ts";

class Model extends ScriptedProvider {
  override readonly name: string = "anthropic";
  override readonly model: string = "claude-sonnet-5-5";
}

const block = (bytes: Buffer, mimeType = "image/png"): ImageBlock => ({
  type: "image",
  data: bytes.toString("base64"),
  mimeType,
});

const look = { calls: [{ id: "a", name: "look" }] };

/** `look` answers with these pictures. */
function lookAt(...pictures: ImageBlock[]): ToolRegistry {
  return registryOf({ look: () => toolOutput("Here.", { content: pictures }) });
}

const shown = (messages: readonly Message[]): string[] =>
  messages.flatMap(({ content = [] }) =>
    [...content].flatMap((one) => {
      if (one.type !== "image") return [];
      const { width, height } = readImageHeader(Buffer.from(one.data, "base64")) ?? {};
      return [`${one.mimeType} ${width} x ${height}`];
    }),
  );

describe("a picture above 2,000 pixels a side", () => {
  test("of a result goes into the conversation smaller, whatever type was said", async () => {
    const agent = new Agent(new Model([look, "ok"]), {
      tools: lookAt(
        block(await drawPicture(3000, 300, { format: "gif" }), "image/jpeg"),
        block(await drawPicture(20, 10)),
      ),
    });
    await agent.chat("go");
    expect(shown(agent.sessionContext)).toEqual(["image/png 2000 x 200", "image/png 20 x 10"]);
  });

  test("of the user goes into the conversation smaller, to every model, and no later request changes it", async () => {
    const provider = new ScriptedProvider(["ok", "ok"]);
    const agent = new Agent(provider);
    await agent.chat([{ type: "text", text: "and this?" }, block(await drawPicture(3000, 300))]);
    await agent.chat("on");
    expect(shown(agent.sessionContext)).toEqual(["image/png 2000 x 200"]);
    const [first, second] = provider.requests.map(({ messages }) => JSON.stringify(messages[0]));
    expect(second).toBe(first);
  });

  test("does not keep others out: 25 of them are in one conversation", async () => {
    const large = block(await drawPicture(2100, 10));
    const agent = new Agent(new Model([look, "ok"]), {
      tools: lookAt(...new Array<ImageBlock>(25).fill(large)),
    });
    await agent.chat("go");
    expect(shown(agent.sessionContext)).toEqual(new Array(25).fill("image/png 2000 x 10"));
  });

  test("that cannot be decoded is left out of a result, which says so, and ends a turn of the user's", async () => {
    const broken = block((await drawPicture(3000, 300, { format: "jpeg" })).subarray(0, -100));
    const agent = new Agent(new Model([look, "ok"]), { tools: lookAt(broken) });
    await agent.chat("go");
    expect(agent.sessionContext.find(({ role }) => role === "tool")).toMatchObject({
      output: expect.stringMatching(/^Here\.\n\[picture left out: it cannot be made smaller: it cannot be decoded: /),
    });
    expect(shown(agent.sessionContext)).toEqual([]);
    const { length } = agent.sessionContext;
    await expect(agent.chat([{ type: "text", text: "look" }, broken])).rejects.toMatchObject({
      code: "invalid_request",
    });
    expect(agent.sessionContext).toHaveLength(length);
  });

  test("keeps its place: no other turn begins while it is made smaller, and an abort ends that", async () => {
    const agent = new Agent(new Model(["ok", "ok"]));
    const picture = block(await drawPicture(2400, 900));
    const abort = new AbortController();
    const first = agent.chat([{ type: "text", text: "look" }, picture], { signal: abort.signal });
    await expect(agent.chat("now")).rejects.toMatchObject({ code: "busy" });
    abort.abort();
    await expect(first).rejects.toMatchObject({ code: "aborted" });
    expect(agent.sessionContext).toEqual([]);
    expect(await agent.chat("now")).toBe("ok");
  });

  test("of a call that is aborted meanwhile is left out, and the call keeps its result", async () => {
    const picture = block(await drawPicture(2400, 900));
    const abort = new AbortController();
    const execute = () => {
      abort.abort();
      return toolOutput("Done.", { content: [picture] });
    };
    const agent = new Agent(new Model([look, "ok"]), { tools: registryOf({ look: execute }) });
    await expect(agent.chat("go", { signal: abort.signal })).rejects.toMatchObject({ code: "aborted" });
    expect(shown(agent.sessionContext)).toEqual([]);
    expect(agent.sessionContext.at(-1)).toMatchObject({ role: "tool", callId: "a" });
  });
});

test("pictures of results that the service refuses are taken back, so that the next turn works", async () => {
  const refusal = new AgentError({ code: "invalid_request", message: "Could not process image" });
  const provider = new Model([look, "ok", { calls: [{ id: "b", name: "look" }] }, refusal, "ok"]);
  const agent = new Agent(provider, { tools: lookAt(block(await drawPicture(9, 9))) });
  await agent.chat("first");
  await expect(agent.chat("go")).rejects.toMatchObject({ code: "invalid_request" });
  expect(await agent.chat("on")).toBe("ok");
  assertConversation(agent.sessionContext);
  // What was answered once stays.
  expect(shown(provider.requests.at(-1)?.messages ?? [])).toEqual(["image/png 9 x 9"]);
  expect(outputs(agent)).toEqual([
    "Here.",
    "Here.\n[pictures left out: the service refused the request that contained them]",
  ]);
});

/** A PNG of many bytes and few pixels. */
function heavy(bytes: number, name = ""): ImageBlock {
  const png = Buffer.alloc(Math.ceil((bytes * 3) / 4));
  png.write("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x64\0\0\0\x64", "latin1");
  png.write(name, 40);
  return block(png);
}

describe("old pictures", () => {
  test("count by their bytes: what a request could not hold is left out, and the output says so", async () => {
    const agent = new Agent(new Model([look, "ok"]), {
      tools: lookAt(...["a", "b"].map((name) => heavy(4_000_000, name))),
      maxToolResultBytes: 10_000_000,
    });
    const mine = Array.from({ length: 6 }, (_, index) => heavy(4_000_000, String(index)));
    await agent.chat([{ type: "text", text: "go" }, ...mine]);
    expect(shown(agent.sessionContext)).toHaveLength(7);
    expect(agent.sessionContext.find(({ role }) => role === "tool")).toMatchObject({
      output: expect.stringMatching(
        /left out: the pictures of the conversation would have 32\d{6} bytes as base64, and the model accepts at most 28000000/,
      ),
    });
  });

  test("begin a conversation anew before a request cannot hold them, and then leave room", async () => {
    const replies: ScriptedReply[] = Array.from(
      { length: 20 },
      () => (request) =>
        asksForSummary(request) ? "SUMMARY" : { text: "y".repeat(400), usage: { inputTokens: 10_000 } },
    );
    const provider = new Model(replies);
    const agent = new Agent(provider, { compaction: { contextWindow: 1_000_000 } });
    for (let turn = 0; turn < 9; turn += 1)
      await agent.chat([{ type: "text", text: "look" }, heavy(4_000_000, String(turn))]);
    expect(provider.requests.filter(asksForSummary)).toHaveLength(1);
    expect(shown(agent.sessionContext).length).toBeLessThan(5);
  });

  test("weigh what their pixels cost, not what their bytes do", async () => {
    const usage = { inputTokens: 1000 };
    const call = { ...look, text: "y".repeat(400), usage };
    const summariesAfter = async (...pictures: ImageBlock[]): Promise<number> => {
      const provider = new ScriptedProvider([call, { text: "ok", usage }, { text: "ok", usage }]);
      const agent = new Agent(provider, { tools: lookAt(...pictures), compaction: { contextWindow: 10_000 } });
      await agent.chat("the goal");
      return provider.requests.filter(asksForSummary).length;
    };
    // Of 4 MB and 16 tokens.
    expect(await summariesAfter(heavy(4_000_000))).toBe(0);
    // Of a few thousand bytes and 2,500 tokens each.
    const wide = block(await drawPicture(1400, 1400));
    expect(await summariesAfter(wide, wide)).toBe(0);
    expect(await summariesAfter(wide, wide, wide)).toBe(1);
  });

  test("that are gone with a summary weigh: it is taken though it is as long as the words", async () => {
    const reply: ScriptedReply = { text: "y", usage: { inputTokens: 3000 } };
    const provider = new ScriptedProvider([reply, reply, "S".repeat(300)]);
    const agent = new Agent(provider);
    await agent.chat([{ type: "text", text: "look" }, block(await drawPicture(1400, 1400))]);
    await agent.chat("and?");
    expect(await agent.compact()).toMatchObject({ summarisedMessages: 4 });
  });

  test("of a result count twenty times the bytes of text, after they were made smaller", async () => {
    const noise = block(await drawPicture(1400, 1000, { isNoise: true }));
    expect(noise.data.length).toBeGreaterThan(20 * 256 * 1024);
    const agent = new Agent(new Model([look, "ok"]), {
      tools: lookAt(noise, heavy(4_000_000)),
    });
    await agent.chat("go");
    expect(shown(agent.sessionContext)).toEqual(["image/webp 1400 x 1000"]);
    expect(agent.sessionContext.find(({ role }) => role === "tool")?.content?.at(-1)).toEqual({
      type: "text",
      text: "[truncated: shown 1 of 2 blocks]",
    });
  });
});
