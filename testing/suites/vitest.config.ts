import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { testOptions } from "../../scripts/testProjects.ts";

// A new seed for each run; TOOLCRIB_SEED repeats one.
process.env.TOOLCRIB_SEED ??= String(Math.floor(Math.random() * 2 ** 31));
console.log(`TOOLCRIB_SEED=${process.env.TOOLCRIB_SEED}`);

const root = fileURLToPath(new URL("../..", import.meta.url));
const { test, ...options } = testOptions();

/** The long suites: kill loops, faults, leaks, fuzz. TOOLCRIB_ROUNDS sets their size; one file at a time, as they measure. */
export default defineConfig({
  ...options,
  test: {
    ...test,
    root,
    isolate: true,
    fileParallelism: false,
    reporters: ["default", `${root}scripts/closingLine.ts`],
    include: ["testing/suites/**/*.suite.ts"],
  },
});
