import { answerTogether, checkLives, countMoments } from "@toolcrib/testing-agent/waitingKill";
import { expect, test } from "vitest";
import { createRandom, suiteSeed } from "../random.ts";

const rounds = Number(process.env.TOOLCRIB_ROUNDS ?? 5);
const atOnce = 3;

test("killed at each moment, an agent that asks loses neither question nor answer and runs nothing twice", async () => {
  const count = await countMoments();
  expect(count).toBeGreaterThan(60);
  const ends: string[] = [];
  const rest = Array.from({ length: count }, (_, index) => index + 1);
  const take = async (): Promise<void> => {
    for (let moment = rest.shift(); moment !== undefined; moment = rest.shift())
      ends[moment] = (await checkLives([moment]))[0] ?? "";
  };
  await Promise.all(Array.from({ length: atOnce }, take));
  // The question is shown; the answer is on disk; a call is about to change something.
  expect([ends[20], ends[22], ends[26]]).toEqual(["event end", "after a line is on disk", "before an effect"]);
  console.log(`${count} moments`);
});

const random = createRandom(suiteSeed);

test(`the same killed ${rounds} times at random, several times in a session`, async () => {
  const count = await countMoments();
  for (let round = 0; round < rounds; round += 1) {
    await checkLives(Array.from({ length: 4 }, () => 1 + random(count / 2)));
  }
});

test("of two processes that answer one question, one runs the call and the other is refused", async () => {
  const { said, ran } = await answerTogether();
  expect(ran.filter((call) => call === "a")).toEqual(["a"]);
  const refusals = said.flatMap((words) => words.filter(([what]) => what === "refused"));
  expect(refusals).toEqual([["refused", expect.stringContaining("resume it again")]]);
});
