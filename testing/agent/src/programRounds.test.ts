import { expect, test } from "vitest";
import { checkProgram } from "./programRounds.ts";

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "a program whose workers die is repeated by its steps, and runs nothing twice that must not, seed %i",
  async (seed) => {
    expect((await checkProgram(seed, 3)).kills).toBeGreaterThan(0);
  },
);
