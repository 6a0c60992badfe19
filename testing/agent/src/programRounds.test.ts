import { expect, test } from "vitest";
import { checkProgram } from "./programRounds.ts";

test("a program whose workers die is repeated by its steps, and runs nothing twice that must not", async () => {
  let kills = 0;
  // What a program does is drawn anew each time, so that one may end before its worker dies.
  for (let seed = 1; seed <= 8; seed += 1) kills += (await checkProgram(seed, 3)).kills;
  expect(kills).toBeGreaterThan(0);
});
