import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { Agent } from "./agent.ts";
import type { Message } from "./messages.ts";
import type { ProviderEvent } from "./provider.ts";
import { providerChecks } from "./testing/providerChecks.ts";
import { assertConversation, recordProvider, replayProvider, ScriptedProvider, testProvider } from "./testing.ts";

const user: Message = { role: "user", content: [{ type: "text", text: "a" }] };
const calling = (...ids: string[]): Message => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool-call", id, name: "echo", args: {} })),
});
const result = (callId: string): Message => ({ role: "tool", callId, name: "echo", output: "", isError: false });

describe("the conversation checker", () => {
  test.each<[string, Message[]]>([
    ["a call without a result", [user, calling("a")]],
    ["a result without a call", [user, result("a")]],
    ["two results", [user, calling("a"), result("a"), result("a")]],
    ["results out of order", [user, calling("a", "b"), result("b"), result("a")]],
    ["a message between a call and its result", [user, calling("a"), user, result("a")]],
    ["an id used twice", [user, calling("a"), result("a"), calling("a"), result("a")]],
    ["an illegal id", [user, calling("é"), result("é")]],
    ["an empty message", [user, { role: "assistant", content: [] }]],
    ["a lone surrogate", [{ role: "user", content: [{ type: "text", text: "\ud800" }] }]],
  ])("finds %s", (_, messages) => {
    expect(() => assertConversation(messages)).toThrow("The conversation is not valid");
  });

  test("finds nothing in a valid conversation", () => {
    const text: Message = { role: "user", content: [{ type: "text", text: "\\ud800 \u{1f600}" }] };
    assertConversation([text, calling("a", "b"), result("a"), result("b"), user]);
  });
});

describe("record and replay", () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder("recording");
  });

  test("a recording replays the provider's answers, and refuses another request", async () => {
    const file = join(folder, "deep", "a.json");
    const script = () => new ScriptedProvider([{ text: "Look", calls: [{ id: "a", name: "x" }] }, "Done"]);
    expect(await new Agent(recordProvider(script(), file)).chat("go")).toBe("Done");
    const replayed = new Agent(replayProvider(file));
    expect(await replayed.chat("go")).toBe("Done");
    await expect(replayed.chat("more")).rejects.toThrow("has 2 exchanges, request 3 is one more");
    await expect(new Agent(replayProvider(file)).chat("something else")).rejects.toThrow("has another request 1");
    writeFileSync(file, readFileSync(file, "utf8").replace('"version": 1', '"version": 2'));
    expect(() => replayProvider(file)).toThrow("is not a recording of version 1");
  });
});

test("a script without further replies says so", async () => {
  await expect(new Agent(new ScriptedProvider([])).chat("go")).rejects.toThrow(
    "The script has no reply for request 1; add one.",
  );
});

describe("the provider suite", () => {
  const conversing = () =>
    new ScriptedProvider(
      Array.from(
        { length: 9 },
        () =>
          ({ messages }) =>
            messages.at(-1)?.role === "user" && JSON.stringify(messages.at(-1)).includes("list .")
              ? { calls: [{ id: `c${messages.length}`, name: "list_dir", args: { path: "." } }] }
              : "Some words.",
      ),
    );
  testProvider(test, { create: conversing });

  test.each<[string, ProviderEvent[]]>([
    ["yields text that adds up to its one reply, which comes last", [{ type: "text-delta", text: "no reply" }]],
    [
      "gives a call whole: a name, an id and an object",
      [{ type: "reply", stop: "stop", message: { role: "assistant", content: [] } }],
    ],
  ])("fails a provider that breaks: %s", async (name, events) => {
    await expect(providerChecks[name]?.({ create: () => new ScriptedProvider([events]) }, true)).rejects.toThrow();
  });
});

test("a stream that does not end after its reply does not block the turn", async () => {
  async function* lingering(): AsyncGenerator<ProviderEvent, void> {
    yield { type: "reply", stop: "stop", message: { role: "assistant", content: [{ type: "text", text: "ok" }] } };
    await new Promise(() => undefined);
  }
  expect(await new Agent(new ScriptedProvider([() => lingering()])).chat("go")).toBe("ok");
});
