import { randomOf } from "@toolcrib/testing/randomOf";
import { randomTurns } from "@toolcrib/testing-agent/randomTurns";
import { test } from "vitest";
import { checkTurn } from "../../../packages/page/testing/readPage.ts";
import { suiteSeed } from "../random.ts";

const rounds = Number(process.env.TOOLCRIB_ROUNDS ?? 50);

test(`${rounds} random conversations, stopped anywhere: a page of the AI SDK ends with what the session holds`, {
  timeout: 0,
}, async () => {
  for (let round = 0; round < rounds; round += 1) {
    const seed = suiteSeed + round;
    await randomTurns(randomOf(seed), (turn) => checkTurn(turn, `TOOLCRIB_SEED=${seed}`));
  }
});
