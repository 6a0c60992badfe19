import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { sourceAlias } from "./scripts/sourceAlias.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

/** The long suites: kill loops, faults, leaks, fuzz. TOOLCRIB_ROUNDS sets their size; one file at a time, as they measure. */
export default defineConfig({
  resolve: { alias: sourceAlias },
  test: {
    reporters: ["default", `${root}scripts/closingLine.ts`],
    include: ["testing/suites/**/*.suite.ts"],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
