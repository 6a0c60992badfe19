import { checkLives, countMoments } from "@toolcrib/testing-agent/programKill";
import { expect, test } from "vitest";
import { createRandom, suiteSeed } from "../random.ts";

const rounds = Number(process.env.TOOLCRIB_ROUNDS ?? 5);
const atOnce = 3;
/** Each moment is a process killed and another one; a tenth of them are enough for a quick run. */
const step = process.env.TOOLCRIB_ALL === "1" || process.env.TOOLCRIB_ROUNDS !== undefined ? 1 : 10;

test("killed at each moment, a program goes on by its journal, and runs nothing twice that must not", async () => {
  const count = await countMoments();
  const moments = Array.from({ length: Math.ceil(count / step) }, (_, index) => 1 + index * step);
  const rest = [...moments];
  const kills: string[] = [];
  const take = async (): Promise<void> => {
    for (let moment = rest.shift(); moment !== undefined; moment = rest.shift())
      kills.push(...(await checkLives([moment])));
  };
  await Promise.all(Array.from({ length: atOnce }, take));
  expect(kills).toHaveLength(moments.length);
  console.log(`${kills.length} kills`);
  // Some 700 processes.
}, 1_800_000);

const random = createRandom(suiteSeed);

test(`the same killed ${rounds} times at random, several times in a program`, async () => {
  const count = await countMoments();
  for (let round = 0; round < rounds; round += 1)
    await checkLives(Array.from({ length: 4 }, () => 1 + random(count / 2)));
});
