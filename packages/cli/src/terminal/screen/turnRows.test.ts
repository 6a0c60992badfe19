import type { AgentEvent } from "@toolcrib/agent";
import { afterEach, expect, test, vi } from "vitest";
import { RecentCalls } from "../recentCalls.ts";
import { createStyle } from "../style.ts";
import { TurnRows } from "./turnRows.ts";

afterEach(() => void vi.useRealTimers());

test("the time that a question took is neither the turn's nor its calls'", () => {
  vi.useFakeTimers();
  const answer = (): never => {
    throw new Error("no answer is expected");
  };
  const turn = new TurnRows({ style: createStyle(false), answer, columns: () => 80, print() {} });
  vi.advanceTimersByTime(2000);
  turn.show({ type: "tool-call", id: "1", name: "look", args: {} });
  vi.advanceTimersByTime(63_000);
  turn.leaveOut(60_000);
  expect(turn.facts()[0]).toBe("5 s · Esc stops");
  expect(turn.rows(80, 10).flatMap(({ rows }) => rows)).toEqual(["→ look · 3 s"]);
});

test("a program is one row with the number of its calls, of which those that run are shown; its details list them all", () => {
  const printed: string[] = [];
  const details = new RecentCalls(createStyle(false));
  const turn = new TurnRows({
    style: createStyle(false),
    answer: () => {
      throw new Error("no answer is expected");
    },
    columns: () => 80,
    print: (_kind, rows) => printed.push(...rows),
  });
  const show = (event: AgentEvent): void => {
    turn.show(event);
    details.see(event);
  };
  show({ type: "tool-call", id: "p", name: "run_program", args: { code: "go()" } });
  for (let n = 1; n <= 6; n += 1)
    show({ type: "tool-call", id: `p:${n}`, name: "read", args: { path: `${n}.md` }, within: "p" });
  const end = (n: number, isError: boolean): void =>
    show({ type: "tool-result", id: `p:${n}`, name: "read", output: "no such file", isError, within: "p" });
  end(2, true);
  expect(turn.rows(80, 10).flatMap(({ rows }) => rows)).toEqual([
    "→ run_program go() · 6 calls, 1 failed, 0 s",
    ...["  → read 1.md", "  → read 3.md", "  → read 4.md", "  … 2 more"],
  ]);
  expect(printed).toEqual([]);
  for (const n of [1, 3, 4, 5, 6]) end(n, false);
  show({ type: "tool-result", id: "p", name: "run_program", output: "all", isError: false });
  expect(printed).toEqual([expect.stringMatching(/^✓ run_program go\(\) · 6 calls, 1 failed, all, 0\.\d s$/)]);
  expect(details.describe(80).split("\n")).toEqual([
    ...["→ run_program", "  code: go()", "  ✓ read 1.md", "  ✗ read 2.md: no such file"],
    ...["  ✓ read 3.md", "  ✓ read 4.md", "  ✓ read 5.md", "  ✓ read 6.md", "  all"],
  ]);
});
