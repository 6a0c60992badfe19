import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Agent } from "../agent.ts";
import { AgentError } from "../errors.ts";
import type { AgentEvent } from "../messages.ts";
import type { ModelRequest, ProviderEvent } from "../provider.ts";
import { assertConversation, ScriptedProvider, type ScriptedReply } from "../testing.ts";

const busyService = (retryAfterMs?: number): AgentError =>
  new AgentError({ code: "rate_limit", message: "slow down", retryable: true, ...(retryAfterMs && { retryAfterMs }) });

async function run(
  replies: ScriptedReply[],
  options = {},
): Promise<{ events: AgentEvent[]; error: unknown; requests: number; agent: Agent }> {
  const provider = new ScriptedProvider(replies);
  const agent = new Agent(provider, { baseDelayMs: 1, ...options });
  const events: AgentEvent[] = [];
  let error: unknown;
  try {
    for await (const event of agent.streamChat("go")) events.push(event);
  } catch (thrown) {
    error = thrown;
  }
  assertConversation(agent.sessionContext);
  return { events, error, requests: provider.requests.length, agent };
}

test("a temporary failure is tried again, five attempts in all", async () => {
  const { events, requests } = await run([busyService(), busyService(), busyService(), busyService(), "ok"]);
  expect(requests).toBe(5);
  expect(events.filter((event) => event.type === "retry").map((event) => event.attempt)).toEqual([2, 3, 4, 5]);
  expect(events.at(-1)).toMatchObject({ type: "end", text: "ok" });
  const failed = await run([busyService(), busyService(), busyService(), busyService(), busyService(), "never"]);
  expect(failed.requests).toBe(5);
  expect(failed.error).toMatchObject({ code: "rate_limit" });
});

test("a permanent failure is not tried again", async () => {
  const refused = new AgentError({ code: "authentication", message: "wrong key" });
  expect(await run([refused, "never"])).toMatchObject({ requests: 1, error: { code: "authentication" } });
});

test("the wait is what the service asks for, up to a cap; else it grows, with jitter", async () => {
  const waits = async (error: AgentError, options = {}): Promise<number[]> =>
    (await run([error, error, error, error, "ok"], options)).events.flatMap((event) =>
      event.type === "retry" ? [event.delayMs] : [],
    );
  expect(await waits(busyService(3))).toEqual([3, 3, 3, 3]);
  expect(await waits(busyService(1_000_000), { maxDelayMs: 5 })).toEqual([5, 5, 5, 5]);
  const random = vi.spyOn(Math, "random").mockReturnValue(1);
  expect(await waits(busyService(), { baseDelayMs: 2, maxDelayMs: 10 })).toEqual([2, 4, 8, 10]);
  random.mockRestore();
});

test("a retry after text was shown says that the text does not count; history holds the good reply only", async () => {
  async function* broken(): AsyncGenerator<ProviderEvent, void> {
    yield { type: "text-delta", text: "half" };
    throw new AgentError({ code: "network", message: "dropped", retryable: true });
  }
  const { events, agent } = await run([() => broken(), "whole"]);
  expect(events.find((event) => event.type === "retry")).toMatchObject({ discardText: true });
  expect(JSON.stringify(agent.sessionContext)).not.toContain("half");
});

test("a stream that ends without a reply is a failure", async () => {
  expect((await run([[{ type: "text-delta", text: "half" }], "ok"])).events.at(-1)).toMatchObject({ text: "ok" });
});

test("whatever a provider throws becomes an AgentError with its cause, also what has no form as text", async () => {
  const cause = new TypeError("boom");
  const message = "The provider scripted failed: boom";
  expect((await run([cause])).error).toMatchObject({ code: "bad_reply", message, cause });
  async function* broken(): AsyncGenerator<ProviderEvent, void> {
    yield { type: "text-delta", text: "half" };
    throw Object.create(null);
  }
  const { error } = await run([() => broken()]);
  expect(error).toMatchObject({
    code: "bad_reply",
    message: expect.stringMatching(/failed: an object that cannot be/),
  });
});

describe("silence", () => {
  const silentAfter = (...events: ProviderEvent[]) =>
    async function* (request: ModelRequest): AsyncGenerator<ProviderEvent, void> {
      yield* events;
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      throw new Error("the request was ended");
    };

  test("a stalled stream is ended, and the request sent again", async () => {
    const signals: AbortSignal[] = [];
    const noting =
      (reply: ScriptedReply): ScriptedReply =>
      (request) => {
        signals.push(request.signal);
        return reply;
      };
    const replies = [noting(silentAfter({ type: "text-delta", text: "half" })), noting("ok")];
    const { events } = await run(replies, { idleTimeoutMs: 20 });
    expect(signals).toHaveLength(2);
    expect(signals[0]?.aborted).toBe(true);
    expect(signals[1]).not.toBe(signals[0]);
    expect(events.find((event) => event.type === "retry")).toMatchObject({
      discardText: true,
      message: expect.stringContaining("0.02 s"),
    });
    expect(events.at(-1)).toMatchObject({ text: "ok" });
  });

  test("a request without a first byte is ended by its own limit", async () => {
    const { error } = await run([silentAfter()], { requestTimeoutMs: 20, idleTimeoutMs: 5, attempts: 1 });
    expect(error).toMatchObject({ code: "timeout" });
  });

  describe("with fake timers", () => {
    beforeEach(() => {
      vi.useFakeTimers();
    });
    afterEach(() => {
      vi.useRealTimers();
    });
    const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
    const moved = async <T>(running: Promise<T>): Promise<T> => {
      const [ended] = await Promise.all([running, vi.advanceTimersByTimeAsync(1000)]);
      return ended;
    };

    test("the silence of one request does not count for the next", async () => {
      const slow =
        (reply: ScriptedReply): ScriptedReply =>
        () =>
          wait(130).then(() => reply);
      const replies = [slow({ calls: [{ name: "x" }] }), slow("ok")];
      const limits = { requestTimeoutMs: 220, idleTimeoutMs: 50, attempts: 1 };
      expect((await moved(run(replies, limits))).error).toBeUndefined();
      expect((await moved(run([slow("late")], { ...limits, requestTimeoutMs: 100 }))).error).toMatchObject({
        code: "timeout",
      });
    });

    test("bytes without content keep the stream alive, and so does a slow reader", async () => {
      const trickle = (gapMs: number) =>
        async function* (): AsyncGenerator<ProviderEvent, void> {
          for (let count = 0; count < 10; count += 1) {
            await wait(gapMs);
            yield { type: "activity" };
          }
          yield { type: "text-delta", text: "ok" };
          yield {
            type: "reply",
            stop: "stop",
            message: { role: "assistant", content: [{ type: "text", text: "ok" }] },
          };
        };
      const read = async (gapMs: number): Promise<Agent> => {
        const agent = new Agent(new ScriptedProvider([trickle(gapMs)]), { idleTimeoutMs: 60, attempts: 1 });
        for await (const event of agent.streamChat("go")) if (event.type === "text-delta") await wait(100);
        return agent;
      };
      expect((await moved(read(10))).sessionContext).toHaveLength(2);
      await expect(moved(read(70))).rejects.toMatchObject({ code: "timeout" });
    });
  });

  test("an abort ends a request that ignores the signal", async () => {
    const controller = new AbortController();
    const deaf = () =>
      (async function* (): AsyncGenerator<ProviderEvent, void> {
        yield { type: "reasoning-delta", text: "thought" };
        yield { type: "text-delta", text: "so far " };
        controller.abort(new Error("enough"));
        await new Promise(() => {});
      })();
    const provider = new ScriptedProvider([deaf, "ok"]);
    const agent = new Agent(provider);
    await expect(agent.chat("go", { signal: controller.signal })).rejects.toMatchObject({
      code: "aborted",
      text: "so far ",
      cause: { message: "enough" },
    });
    expect(await agent.chat("again")).toBe("ok");
    expect(provider.requests[1]?.messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", [{ type: "text", text: "go" }]],
      ["assistant", [{ type: "text", text: "so far" }]],
      ["user", [{ type: "text", text: "again" }]],
    ]);
  });

  test("an abort ends the wait for a retry", async () => {
    const agent = new Agent(new ScriptedProvider([busyService(60_000)]), { maxDelayMs: 60_000 });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    await expect(agent.chat("go", { signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
  });

  test("with a signal that has already fired, nothing is sent", async () => {
    const provider = new ScriptedProvider(["never"]);
    await expect(new Agent(provider).chat("go", { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "aborted",
    });
    expect(provider.requests).toEqual([]);
  });
});

test("one signal serves the whole turn, and no listener is left on it or on the caller's", async () => {
  const controller = new AbortController();
  const calls = ["save_session_context", "x"].map((name) => ({ calls: [{ name }] }));
  const provider = new ScriptedProvider([...calls, "ok"]);
  await new Agent(provider).chat("go", { signal: controller.signal });
  const signals = new Set(provider.requests.map((request) => request.signal));
  expect(signals.size).toBe(1);
  for (const signal of [controller.signal, ...signals]) expect(getEventListeners(signal, "abort")).toHaveLength(0);
});
