import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { never } from "../../fixtures/tools.ts";
import { defineTool } from "../defineTool.ts";
import type { ToolCallInfo } from "../interface.ts";
import { ToolRegistry } from "./registry.ts";

function registryOf(execute: (call: ToolCallInfo) => unknown): ToolRegistry {
  return new ToolRegistry([
    defineTool({ name: "a", description: "A.", parameters: { type: "object" }, execute: (_, call) => execute(call) }),
  ]);
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  // Restored later, by any file in this process, the spies would bring the timers back that never fire.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("a call that waits for nothing starts no timer and adds no listener", async () => {
  const { signal } = new AbortController();
  const added = vi.spyOn(signal, "addEventListener");
  const timers = vi.spyOn(globalThis, "setTimeout");
  for (const execute of [() => "done", async () => "done"])
    expect(await registryOf(execute).execute("a", {}, { signal })).toBe("done");
  expect(added).not.toHaveBeenCalled();
  expect(timers).not.toHaveBeenCalled();
});

test("a signal that fires right after the start wins over a result that is there at once", async () => {
  const controller = new AbortController();
  const running = registryOf(() => "done").execute("a", {}, { signal: controller.signal });
  controller.abort();
  expect(await running).toBe("Error executing a: Aborted");
});

test("a tool begins no change once the signal has fired, however soon", async () => {
  const controller = new AbortController();
  const changed = vi.fn();
  const running = registryOf(async (call) => {
    await undefined;
    call.beginCommit?.();
    changed();
  }).execute("a", {}, { signal: controller.signal });
  controller.abort();
  expect(await running).toBe("Error executing a: Aborted");
  expect(changed).not.toHaveBeenCalled();
});

test("the signal that a tool asks for fires with that of the caller, at once", async () => {
  const controller = new AbortController();
  const seen = vi.fn();
  const running = registryOf((call) => {
    call.signal?.addEventListener("abort", seen);
    return never();
  }).execute("a", {}, { signal: controller.signal });
  controller.abort();
  expect(seen).toHaveBeenCalledOnce();
  expect(await running).toBe("Error executing a: Aborted");
});

test("the time in which a tool keeps the thread busy counts", async () => {
  const running = registryOf(() => {
    vi.advanceTimersByTime(40);
    return never();
  }).execute("a", {}, { timeoutMs: 50 });
  await vi.advanceTimersByTimeAsync(10);
  expect(await running).toBe("Error executing a: Timed out after 50 ms");
  expect(vi.getTimerCount()).toBe(0);
});

test("a tool that kept the thread busy for longer than it may is ended with no delay that Node warns of", async () => {
  const running = registryOf(() => {
    vi.advanceTimersByTime(90);
    return never();
  }).execute("a", {}, { timeoutMs: 50 });
  const timers = vi.spyOn(globalThis, "setTimeout");
  await vi.advanceTimersByTimeAsync(1);
  expect(await running).toBe("Error executing a: Timed out after 50 ms");
  expect(timers.mock.calls.map(([, delayMs]) => delayMs)).toEqual([1]);
});

test("a signal that cannot be listened to fails the call instead of leaving it without an end", async () => {
  const signal = new AbortController() as never;
  expect(await registryOf(never).execute("a", {}, { signal })).toMatch(/^Error executing a: .*addEventListener/);
  expect(await registryOf((call) => call.signal?.aborted).execute("a", {}, { signal })).toMatch(/addEventListener/);
  expect(vi.getTimerCount()).toBe(0);
});
