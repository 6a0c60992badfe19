import fc from "fast-check";
import { beforeAll, describe } from "vitest";
import { suiteSeed } from "../random.ts";

const rounds = Number(process.env.TOOLCRIB_ROUNDS) || 8;

/** Tests that compare with a plain definition or with fast-glob. `npm test` runs them from one seed; `peers.suite.ts` asks ripgrep and git. */
const files = ["engine/globs", "engine/matchLines", "threads/runSearch"];

for (let round = 0; round < rounds; round += 1) {
  const seed = suiteSeed + round;
  describe(`the properties of the search pack, seed ${seed}`, async () => {
    beforeAll(() => {
      fc.configureGlobal({ seed });
    });
    for (const file of files) {
      const tests = new URL(`../../../packages/tools-search/src/${file}.test.ts`, import.meta.url).pathname;
      // The query makes Vite load the module anew in each round, and the module declares its tests here.
      await import(/* @vite-ignore */ `${tests}?seed=${seed}`);
    }
  });
}
