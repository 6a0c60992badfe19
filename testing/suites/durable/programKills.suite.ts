import { checkProgram } from "@toolcrib/testing-agent/programRounds";
import { expect, test } from "vitest";
import { createRandom, suiteSeed } from "../random.ts";

const kills = Number(process.env.TOOLCRIB_ROUNDS ?? 100);
const atOnce = 8;

test(`programs are repeated by their steps after ${kills} random kills, and run nothing twice that must not`, async () => {
  const random = createRandom(suiteSeed);
  const sum = { programs: 0, kills: 0, calls: 0, doubtful: 0, turns: 0 };
  const take = async (): Promise<void> => {
    while (sum.kills < kills) {
      const figures = await checkProgram(random(2 ** 31), 1 + random(5));
      sum.programs += 1;
      for (const key of ["kills", "calls", "doubtful", "turns"] as const) sum[key] += figures[key];
    }
  };
  await Promise.all(Array.from({ length: atOnce }, take));
  console.log(JSON.stringify(sum));
  expect(sum.kills).toBeGreaterThanOrEqual(kills);
});
