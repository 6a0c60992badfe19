import { expect, test } from "vitest";
import { byteLimit } from "./cuts.ts";

test("a limit in bytes is at least 1; a fraction is rounded down", () => {
  expect([1.9, 50, Infinity].map((value) => byteLimit("maxBytes", value))).toEqual([1, 50, Infinity]);
  for (const [value, got] of [
    [0, "0"],
    [Number.NaN, "NaN"],
    ["5", "a string"],
    [null, "null"],
  ] as const) {
    expect(() => byteLimit("maxBytes", value as number)).toThrow(
      new TypeError(`maxBytes must be a number of bytes of at least 1, or Infinity for no limit, got ${got}`),
    );
  }
});
