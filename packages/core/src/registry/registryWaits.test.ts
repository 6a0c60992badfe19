import { afterEach, describe, expect, test, vi } from "vitest";
import { never, registryOf, throwing, tool } from "../../fixtures/tools.ts";
import type { Middleware, ToolOutcome } from "../interface.ts";
import { ToolRegistry } from "./registry.ts";

const pass: Middleware = (_, next) => next();

/** A middleware that waits until it is let go on. */
function gate(): { middleware: Middleware; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { middleware: (_, next) => opened.then(() => next()), open };
}

afterEach(() => {
  vi.useRealTimers();
});

describe("an abort of a call behind a middleware", () => {
  test("while the middleware waits ends the call; the tool is not run afterwards", async () => {
    const { middleware, open } = gate();
    const run = vi.fn(() => "ran");
    const controller = new AbortController();
    const later: ToolOutcome[] = [];
    const watch: Middleware = async (_, next) => {
      const outcome = await next();
      later.push(outcome);
      return outcome;
    };
    const running = registryOf(tool("a", run), watch, middleware).execute("a", {}, { signal: controller.signal });
    controller.abort(new Error("enough"));
    expect(await running).toBe("Error executing a: Aborted");
    open();
    await expect.poll(() => later).toMatchObject([{ ok: false, error: { code: "aborted", message: "Aborted" } }]);
    expect(run).not.toHaveBeenCalled();
  });

  test("that comes from the middleware itself, at once, ends the call too", async () => {
    const controller = new AbortController();
    const aborting: Middleware = () => {
      controller.abort();
      return never();
    };
    const outcome = await registryOf(tool("a"), aborting).invoke("a", {}, { signal: controller.signal });
    expect(outcome).toMatchObject({ ok: false, error: { code: "aborted" } });
  });

  test("after a change has begun says that it may have completed", async () => {
    const controller = new AbortController();
    const committing = tool("a", (_, call) => {
      call?.beginCommit?.();
      return never();
    });
    const running = registryOf(committing, pass).execute("a", {}, { signal: controller.signal });
    controller.abort();
    expect(await running).toBe("Error executing a: Aborted; the change may have completed");
  });

  test("that does not happen changes nothing, and no listener is left on the signal", async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    const registry = registryOf(
      tool("a", async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return "done";
      }),
      pass,
    );
    expect(await registry.execute("a", {}, { signal })).toBe("done");
    const listeners = (calls: unknown[][]) =>
      calls.filter(([kind]) => kind === "abort").map(([, listener]) => listener);
    expect(listeners(added.mock.calls)).toHaveLength(2);
    expect(new Set(listeners(removed.mock.calls))).toEqual(new Set(listeners(added.mock.calls)));
  });
});

describe("what a middleware passes on", () => {
  test("a tool's own check is asked once, since what it made of the arguments need not pass again", async () => {
    const parseArguments = vi.fn(({ n }: Record<string, unknown>) =>
      typeof n === "string" ? { value: { n: n.length } } : { issues: [{ message: "expected a string" }] },
    );
    const registry = registryOf(
      tool("a", ({ n }) => `n=${n}`, { parseArguments }),
      pass,
    );
    expect(await registry.execute("a", { n: "four" })).toBe("n=4");
    expect(parseArguments).toHaveBeenCalledTimes(1);
  });

  test("arguments are checked again by a tool that took the name meanwhile", async () => {
    const { middleware, open } = gate();
    const registry = registryOf(tool("a"), middleware);
    const running = registry.execute("a", { x: 1 });
    registry.unregister("a");
    registry.register(tool("a", ({ n }) => `n=${n}`, {}, { properties: { n: { type: "number" } }, required: ["n"] }));
    open();
    expect(await running).toMatch(/^Error executing a: Invalid arguments: n: /);
  });

  test("a tool that was removed meanwhile is not found, one that came meanwhile runs", async () => {
    const gone = gate();
    const removing = registryOf(tool("a"), gone.middleware);
    const lost = removing.execute("a");
    removing.unregister("a");
    gone.open();
    expect(await lost).toBe("Tool not found: a");
    const come = gate();
    const adding = new ToolRegistry().use(come.middleware);
    const found = adding.execute("a", { n: "2" });
    adding.register(tool("a", ({ n }) => `n=${n} ${typeof n}`, {}, { properties: { n: { type: "number" } } }));
    come.open();
    expect(await found).toBe("n=2 number");
  });

  test("the arguments of an unknown tool are shown as given, none as an empty object", async () => {
    const seen: unknown[] = [];
    const registry = new ToolRegistry().use((call, next) => {
      seen.push(call.args);
      return next();
    });
    await registry.execute("none", { x: 1 });
    await registry.execute("none");
    expect(seen).toEqual([{ x: 1 }, {}]);
  });

  test("anything but a middleware is refused at once", () => {
    expect(() => new ToolRegistry().use("log" as never)).toThrow(
      new TypeError("use expects a middleware: (call, next) => Promise"),
    );
  });
});

describe("the time limit", () => {
  test.each([
    ["absent", undefined],
    ["0", 0],
    ["negative", -1],
    ["not a number", Number.NaN],
    ["a string", "15"],
    ["a function that answers NaN", () => Number.NaN],
    ["a function that throws", throwing(new Error("no limit today"))],
  ])("of a tool that is %s gives the default of 30 s", async (_, timeoutMs) => {
    vi.useFakeTimers();
    let answer = "";
    const running = registryOf(tool("a", never, { timeoutMs }))
      .execute("a")
      .then((text) => {
        answer = text;
      });
    await vi.advanceTimersByTimeAsync(29_999);
    expect(answer).toBe("");
    await vi.advanceTimersByTimeAsync(1);
    await running;
    expect(answer).toBe("Error executing a: Timed out after 30000 ms");
  });

  test("of a caller that is not a positive number is an error, with a signal and behind a middleware too", async () => {
    const words =
      "Error executing a: timeoutMs must be a number of milliseconds above 0, at most 2147483647, or Infinity";
    const { signal } = new AbortController();
    const run = vi.fn(() => "ran");
    expect(await registryOf(tool("a", run)).execute("a", {}, { timeoutMs: 0, signal })).toBe(words);
    expect(await registryOf(tool("a", run), pass).execute("a", {}, { timeoutMs: 0, signal })).toBe(words);
    expect(run).not.toHaveBeenCalled();
  });
});

test("a call that a middleware passes on after the abort, without the signal, does not start", async () => {
  const run = vi.fn(() => "ran");
  const { middleware, open } = gate();
  const registry = registryOf(tool("a", run), middleware, (call, next) => next({ ...call, signal: undefined }));
  const controller = new AbortController();
  const running = registry.execute("a", {}, { signal: controller.signal });
  controller.abort();
  open();
  expect(await running).toBe("Error executing a: Aborted");
  await new Promise((resolve) => setImmediate(resolve));
  expect(run).not.toHaveBeenCalled();
});

test("the tool hears of an abort by a signal that gives no reason", async () => {
  let heard: AbortSignal | undefined;
  const registry = registryOf(
    tool("a", (_, call) => {
      heard = call?.signal;
      return never();
    }),
  );
  const signal = Object.assign(new EventTarget(), { aborted: false });
  const outcome = registry.invoke("a", {}, { signal: signal as unknown as AbortSignal });
  signal.aborted = true;
  signal.dispatchEvent(new Event("abort"));
  expect(await outcome).toMatchObject({ ok: false, error: { code: "aborted" } });
  expect(heard?.aborted).toBe(true);
});
