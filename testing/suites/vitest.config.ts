import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { compileCacheOfRun } from "../../scripts/compileCache.ts";
import { sourceAlias } from "../../scripts/sourceAlias.ts";

// A new seed for the properties of each run; TOOLCRIB_SEED repeats one.
process.env.TOOLCRIB_SEED ??= String(Math.floor(Math.random() * 2 ** 31));
console.log(`TOOLCRIB_SEED=${process.env.TOOLCRIB_SEED}`);

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The long suites: kill loops, faults, leaks, fuzz. TOOLCRIB_ROUNDS sets their size; one file at a time, as they measure. */
export default defineConfig({
  resolve: { alias: sourceAlias },
  test: {
    root,
    reporters: ["default", `${root}scripts/closingLine.ts`],
    include: ["testing/suites/**/*.suite.ts"],
    setupFiles: [`${root}scripts/seed.ts`],
    env: { NODE_COMPILE_CACHE: compileCacheOfRun() },
    expect: { poll: { timeout: 120_000 } },
    testTimeout: 600_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
