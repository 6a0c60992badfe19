import { expect, test } from "vitest";
import { Agent } from "./agent.ts";
import { AgentError } from "./errors.ts";
import { fallbackProvider } from "./fallback.ts";
import { ScriptedProvider } from "./testing.ts";

const down = new AgentError({ code: "server", message: "Down.", retryable: true });
const badKey = new AgentError({ code: "authentication", message: "Wrong key." });

test("after two failures in a row the next provider answers, and stays in use", async () => {
  const [first, second] = [new ScriptedProvider(["one", down, down, "never"]), new ScriptedProvider(["two", "three"])];
  const agent = new Agent(fallbackProvider(first, second), { baseDelayMs: 1 });
  expect(await agent.chat("a")).toBe("one");
  const messages: string[] = [];
  for await (const event of agent.streamChat("b")) if (event.type === "retry") messages.push(event.message);
  expect(messages).toEqual(["Down.", "Down. Continuing with scripted/script."]);
  expect(await agent.chat("c")).toBe("three");
  expect(first.requests).toHaveLength(3);
});

test("failures that are not in a row are not added up", async () => {
  const second = new ScriptedProvider(["never"]);
  const agent = new Agent(fallbackProvider(new ScriptedProvider([down, "one", down, "two"]), second), {
    baseDelayMs: 1,
  });
  expect([await agent.chat("a"), await agent.chat("b")]).toEqual(["one", "two"]);
});

test("a failure that a retry cannot help switches at once; the failure of the last provider ends the turn", async () => {
  const agent = new Agent(fallbackProvider(new ScriptedProvider([badKey]), new ScriptedProvider([badKey])));
  await expect(agent.chat("a")).rejects.toMatchObject({ code: "authentication", message: "Wrong key." });
});

test("an account with nothing left, or a model that cannot be loaded, switches at once", async () => {
  for (const code of ["rate_limit", "server"] as const) {
    const gone = new AgentError({ code, message: "Gone." });
    const first = new ScriptedProvider([gone]);
    const agent = new Agent(fallbackProvider(first, new ScriptedProvider(["two"])), { baseDelayMs: 1 });
    expect([await agent.chat("a"), first.requests.length]).toEqual(["two", 1]);
  }
});

test("a refused request is not sent to another provider", async () => {
  const second = new ScriptedProvider(["never"]);
  const refused = new AgentError({ code: "invalid_request", message: "No." });
  await expect(new Agent(fallbackProvider(new ScriptedProvider([refused]), second)).chat("a")).rejects.toMatchObject({
    code: "invalid_request",
  });
  expect(second.requests).toHaveLength(0);
});
