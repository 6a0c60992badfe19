import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { OpenAIProvider } from "./providers/openai/openai.ts";
import { clockedEvents, RequestClock } from "./requestClock.ts";

const request = {
  systemPrompt: "",
  messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
  tools: [],
  signal: new AbortController().signal,
} as const;

/** A provider whose service never answers and whose SDK ignores its signal. */
function silentProvider(limits: { requestTimeoutMs?: number; idleTimeoutMs?: number } = {}): OpenAIProvider {
  const hanging = new Promise(() => {});
  const create = () => Object.assign(hanging, { asResponse: () => hanging });
  return new OpenAIProvider({ client: { baseURL: "http://127.0.0.1", responses: { create } }, ...limits });
}

const lax = { requestTimeoutMs: 600_000, idleTimeoutMs: 600_000, contentTimeoutMs: 600_000 };
async function* hanging(): AsyncGenerator<{ type: "activity" }> {
  await new Promise(() => {});
  yield { type: "activity" };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a provider that is used without an agent", () => {
  test.each([
    [{}, 600_000, "600 s"],
    [{ requestTimeoutMs: 3000 }, 3000, "3 s"],
  ])("with the limits %j ends a silent request after %i ms", async (limits, milliseconds, said) => {
    const next = silentProvider(limits).send(request)[Symbol.asyncIterator]().next();
    let settled = false;
    next.then(
      () => {},
      () => {
        settled = true;
      },
    );
    await vi.advanceTimersByTimeAsync(milliseconds - 1);
    expect(settled).toBe(false);
    await vi.advanceTimersByTimeAsync(100_000);
    await expect(next).rejects.toMatchObject({
      code: "timeout",
      retryable: true,
      message: `The model sent nothing for ${said}. Check the connection, or raise requestTimeoutMs.`,
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("names the other limit once the reply has begun", async () => {
    async function* events() {
      yield { type: "activity" } as const;
      await new Promise(() => {});
    }
    const limits = { ...lax, requestTimeoutMs: 1000, idleTimeoutMs: 50 };
    const read = clockedEvents(() => events(), request.signal, limits);
    expect(await read.next()).toMatchObject({ value: { type: "activity" } });
    const next = expect(read.next()).rejects.toMatchObject({ message: expect.stringContaining("raise idleTimeoutMs") });
    await vi.advanceTimersByTimeAsync(50);
    await next;
  });

  test.each([
    ["pings", { type: "activity" }, true],
    ["empty pieces", { type: "text-delta", text: "" }, true],
    ["text", { type: "text-delta", text: "x" }, false],
    ["thinking", { type: "reasoning-delta", text: "x" }, false],
    ["arguments", { type: "activity", isContent: true }, false],
  ])(
    "of a stream that goes on with %s ends it by contentTimeoutMs if these are no part of the reply",
    async (...row) => {
      const [, event, isEnded] = row;
      async function* events() {
        for (let count = 0; count < 40; count += 1) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          yield event;
        }
      }
      const limits = { requestTimeoutMs: 1000, idleTimeoutMs: 1000, contentTimeoutMs: 1000 };
      const reading = (async () => {
        for await (const _ of clockedEvents(() => events(), request.signal, limits));
      })();
      const message = "The model sent no part of its reply for 1 s. Check the connection, or raise contentTimeoutMs.";
      const end = isEnded
        ? expect(reading).rejects.toMatchObject({ code: "timeout", retryable: true, message })
        : expect(reading).resolves.toBeUndefined();
      await vi.advanceTimersByTimeAsync(4000);
      await end;
    },
  );

  test("counts contentTimeoutMs before the first sign, too, but not the time of its reader", async () => {
    const silent = clockedEvents(() => hanging(), request.signal, { ...lax, contentTimeoutMs: 100 });
    const next = expect(silent.next()).rejects.toMatchObject({ message: expect.stringContaining("contentTimeoutMs") });
    await vi.advanceTimersByTimeAsync(200);
    await next;
    async function* pings() {
      for (;;) yield { type: "activity" } as const;
    }
    const read = clockedEvents(() => pings(), request.signal, { ...lax, contentTimeoutMs: 100 });
    for (let count = 0; count < 5; count += 1) {
      await read.next();
      await vi.advanceTimersByTimeAsync(90);
    }
    await read.return();
  });

  test("ends at once when its signal fires", async () => {
    const controller = new AbortController();
    const events = silentProvider().send({ ...request, signal: controller.signal });
    const next = events[Symbol.asyncIterator]().next();
    controller.abort(new Error("enough"));
    await expect(next).rejects.toMatchObject({ code: "aborted", cause: { message: "enough" } });
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("under an agent's clock a provider starts no timer, unless it has limits of its own", () => {
  const start = (limits: object): void => {
    silentProvider(limits)
      .send({ ...request, isTimed: true })
      [Symbol.asyncIterator]()
      .next()
      .catch(() => {});
  };
  start({});
  expect(vi.getTimerCount()).toBe(0);
  start({ idleTimeoutMs: 1000 });
  expect(vi.getTimerCount()).toBe(1);
});

test.each([0, -1, Number.NaN, "5"])("a provider refuses the limit %j", (limit) => {
  expect(() => silentProvider({ idleTimeoutMs: limit as number })).toThrow(
    expect.objectContaining({ code: "invalid_option", message: expect.stringContaining("idleTimeoutMs must be") }),
  );
});

test("the late end of one request is not taken for that of the next", async () => {
  const clock = new RequestClock(undefined, { ...lax, requestTimeoutMs: 1000, idleTimeoutMs: 1000 });
  const request = () => {
    const { promise, resolve } = Promise.withResolvers<IteratorResult<unknown>>();
    const end = () => resolve({ done: true, value: undefined });
    return { events: { next: () => promise }, end };
  };
  const [earlier, later] = [request(), request()];
  clock.drain(earlier.events);
  clock.drain(later.events);
  earlier.end();
  await vi.advanceTimersByTimeAsync(0);
  const drained = clock.drained();
  expect(drained).toBeInstanceOf(Promise);
  later.end();
  await drained;
  expect(clock.drained()).toBe(undefined);
  expect(clock.signal.aborted).toBe(false);
  clock.dispose();
});
