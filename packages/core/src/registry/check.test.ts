import { expect, test, vi } from "vitest";
import { defineTool } from "../defineTool.ts";
import type { ExecuteOptions, Guard } from "../interface.ts";
import { ToolRegistry } from "./registry.ts";

const execute = vi.fn(() => "done");
const middleware = vi.fn((_call: unknown, next: () => Promise<never>) => next());

function registryOf(...guards: Guard[]): ToolRegistry {
  vi.clearAllMocks();
  const parameters = { type: "object", properties: { n: { type: "number" } }, additionalProperties: false } as const;
  const registry = new ToolRegistry([
    defineTool({ name: "act", description: "Acts.", parameters, execute }),
    defineTool({ name: "off", description: "Is off.", parameters, execute }),
  ]);
  registry.disable("off");
  registry.use(middleware as never);
  for (const guard of guards) registry.guard(guard);
  return registry;
}

const fired = AbortSignal.abort("enough");
const cases: [string, Guard[], string, unknown, ExecuteOptions | undefined][] = [
  ["a call that may run", [() => true], "act", { n: "1" }, undefined],
  ["a call without guards", [], "act", undefined, { callId: "c" }],
  ["an unknown tool", [], "atc", {}, undefined],
  ["a name that is no text", [], Symbol("x") as never, {}, undefined],
  ["a tool that is off", [() => true], "off", {}, undefined],
  ["bad arguments", [() => true], "act", { n: "x" }, undefined],
  ["unknown arguments", [], "act", { m: 1 }, undefined],
  ["a denial", [() => true, () => "no"], "act", {}, undefined],
  ["a guard that throws", [() => Promise.reject(new Error("x"))], "act", {}, undefined],
  ["a question", [() => ({ ask: { text: "Act?", data: 1 } })], "act", {}, undefined],
  ["a signal that has fired", [() => true], "act", {}, { signal: fired }],
  ["a limit that is none", [() => true], "act", {}, { timeoutMs: 0 }],
  ["a limit that is none, without guards", [], "act", {}, { timeoutMs: Number.NaN }],
  ["options that are null", [], "act", {}, null as never],
];

test.each(cases)("%s: answers what invoke would, without running anything", async (_, guards, name, args, options) => {
  const registry = registryOf(...guards);
  const checked = await registry.check(name, args, options);
  expect(execute).not.toHaveBeenCalled();
  expect(middleware).not.toHaveBeenCalled();
  const outcome = await registry.invoke(name, args, options);
  expect(checked.ok).toBe(outcome.ok);
  if (!checked.ok && !outcome.ok) {
    expect(checked.error.code).toBe(outcome.error.code);
    expect(checked.error.message).toBe(outcome.error.message);
    expect(checked.error.details).toEqual(outcome.error.details);
  } else expect(checked).toEqual({ ok: true });
});

test("a misspelt option is refused, by the name of the method", async () => {
  const checked = await registryOf().check("act", {}, { timeoutMS: 5 } as never);
  expect(checked).toMatchObject({ ok: false, error: { message: expect.stringContaining("did you mean") } });
  expect(checked).toMatchObject({ ok: false, error: { message: expect.stringContaining("check: ") } });
});

test("a question is answered with approval_required, and approve and onOutcome are not called", async () => {
  const approve = vi.fn(() => true);
  const onOutcome = vi.fn();
  const checked = await registryOf(() => ({ ask: "Act?" })).check("act", {}, { approve, onOutcome });
  expect(checked).toMatchObject({ ok: false, error: { code: "approval_required" } });
  expect(approve).not.toHaveBeenCalled();
  expect(onOutcome).not.toHaveBeenCalled();
});

test("a tool that is disabled or replaced while a guard waits is refused", async () => {
  const registry = registryOf(() => registry.disable("act"));
  expect(await registry.check("act", {})).toMatchObject({ ok: false, error: { code: "not_available" } });
});

test("a guard sees the labels, the id and the signal of a check", async () => {
  const { signal } = new AbortController();
  const labels = { chat: 1 };
  const guard = vi.fn(() => true);
  await registryOf(guard).check("act", { n: 1 }, { labels, callId: "c", signal });
  expect(guard).toHaveBeenCalledWith(
    expect.objectContaining({ name: "act", args: { n: 1 }, labels, callId: "c", signal }),
  );
});
