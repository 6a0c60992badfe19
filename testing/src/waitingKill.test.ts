import { expect, test } from "vitest";
import { answerTogether, checkLives } from "./waitingKill.ts";

// The long suite takes every moment, one by one.
test.each([
  [18, "the question is on its way to the disk", "before a line is on disk"],
  [20, "the question is shown", "event end"],
  [22, "the answer is on disk", "after a line is on disk"],
  [26, "the call is about to change something", "before an effect"],
])("killed at moment %i, when %s, an agent loses neither question nor answer", async (moment, _, where) => {
  expect((await checkLives([moment]))[0]).toBe(where);
});

test("of two processes that answer one question, one runs the call and the other is refused", async () => {
  const { said, ran } = await answerTogether();
  expect(ran.filter((call) => call === "a")).toEqual(["a"]);
  const refusals = said.flatMap((words) => words.filter(([what]) => what === "refused"));
  expect(refusals).toEqual([["refused", expect.stringContaining("resume it again")]]);
});
