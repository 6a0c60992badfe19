import { randomOf } from "@toolcrib/testing/randomOf";
import { expect, test } from "vitest";
import { checkLives } from "./programKill.ts";

test("a program whose process is killed goes on by its journal, and runs nothing twice that must not", async () => {
  const random = randomOf(56);
  // From the first call of the program on, far from its end.
  for (const kills of [1, 4])
    expect(await checkLives(Array.from({ length: kills }, () => 20 + Math.floor(random() * 25)))).toHaveLength(kills);
}, 60_000);
