import { randomOf } from "@toolcrib/testing/randomOf";
import { randomTurns } from "@toolcrib/testing-agent/randomTurns";
import { test } from "vitest";
import { checkTurn } from "../../testing/readPage.ts";

test("200 random conversations, stopped anywhere: the page ends with what the session holds", {
  timeout: 120_000,
}, async () => {
  for (let seed = 1; seed <= 200; seed += 1)
    await randomTurns(randomOf(seed), (turn) => checkTurn(turn, `seed ${seed}`));
});
