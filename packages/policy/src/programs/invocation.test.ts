import { expect, test } from "vitest";
import { sameWords } from "./invocation.ts";

test("words are taken for those of another command only if each is the same", () => {
  const words = ["rm", "x"];
  expect(sameWords(["rm\0x"])).toEqual(["rm\0x"]);
  expect(sameWords(words)).toBe(words);
  expect(sameWords(["rm", "x"])).toBe(words);
  expect(sameWords(["rm\0x"])).toEqual(["rm\0x"]);
});
