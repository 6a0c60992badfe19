import { afterEach, expect, test, vi } from "vitest";
import { createStyle } from "../style.ts";
import { TurnRows } from "./turnRows.ts";

afterEach(() => void vi.useRealTimers());

test("the time that a question took is neither the turn's nor its calls'", () => {
  vi.useFakeTimers();
  const answer = (): never => {
    throw new Error("no answer is expected");
  };
  const turn = new TurnRows({ style: createStyle(false), answer, columns: () => 80, print() {}, fold() {} });
  vi.advanceTimersByTime(2000);
  turn.show({ type: "tool-call", id: "1", name: "look", args: {} });
  vi.advanceTimersByTime(63_000);
  turn.leaveOut(60_000);
  expect(turn.facts()[0]).toBe("5 s · Esc stops");
  expect(turn.rows(80, 10).flatMap(({ rows }) => rows)).toEqual(["→ look · 3 s"]);
});
