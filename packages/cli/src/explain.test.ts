import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { messageOf } from "./explain.ts";

test.each([
  ["an error", new Error("broken"), "broken"],
  ["an error of another realm", runInNewContext("new TypeError('broken')"), "broken"],
  ["an error without a message", new RangeError(), "RangeError"],
  ["a text", "broken", "broken"],
  ["nothing", undefined, "undefined"],
  ["what has no form as text", Object.create(null), "an object that cannot be read"],
])("the message of %s can be shown", (_, thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});
