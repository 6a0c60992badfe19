import type { AgentEvent } from "@toolcrib/agent";
import { expect, test } from "vitest";
import { RecentCalls } from "./recentCalls.ts";
import { createStyle } from "./style.ts";

const see = (...events: AgentEvent[]): RecentCalls => {
  const calls = new RecentCalls(createStyle(false));
  for (const event of events) calls.see(event);
  return calls;
};
const call = { type: "tool-call", id: "1", name: "write_file", args: { path: "a" } } as const;
const result = { type: "tool-result", id: "1", name: "write_file", output: "written", isError: false } as const;

test("a call that is told again after its answer is one call, with its result", () => {
  const calls = see(call, call, result);
  expect(calls.describe(80, 20)).toBe(calls.describe(80));
  expect(calls.describe(80).match(/write_file/g)).toHaveLength(1);
  expect(calls.describe(80)).toContain("  written");
});

test("calls of a program are listed whole, also while it waits", () => {
  const calls = see({ ...call, name: "run_program" }, { ...call, id: "1:1", within: "1" });
  calls.see({ ...result, id: "1:1", output: "inner result", within: "1" });
  expect(calls.describe(80, 20)).toContain("  inner result");
  expect(calls.describe(80)).not.toContain("inner result");
});

test("thoughts take no place of a call", () => {
  const thinking: AgentEvent[] = Array.from({ length: 20 }, (_, n) => [
    { type: "reasoning-delta", text: `thought ${n}` } as const,
    { ...call, id: `${n}` },
  ]).flat();
  expect(
    see(...thinking)
      .describe(80, 20)
      .match(/→ write_file/g),
  ).toHaveLength(20);
});
