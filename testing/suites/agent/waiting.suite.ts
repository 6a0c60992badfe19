import { expect, test } from "vitest";
import { checkLives, countMoments } from "../../src/waitingKill.ts";

const rounds = Number(process.env.TOOLCRIB_ROUNDS ?? 25);

test("killed at each moment, an agent that asks loses neither question nor answer and runs nothing twice", async () => {
  const count = await countMoments();
  expect(count).toBeGreaterThan(60);
  for (let moment = 1; moment <= count; moment += 1) await checkLives([moment]);
  console.log(`${count} moments`);
});

test(`the same killed ${rounds} times at random, several times in a session`, async () => {
  const count = await countMoments();
  for (let round = 0; round < rounds; round += 1) {
    await checkLives(Array.from({ length: 4 }, () => 1 + Math.floor((Math.random() * count) / 2)));
  }
});
