import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { sourceAlias } from "../sourceAlias.ts";

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** The tests that `npm run test:mutation` runs against each mutant: those of core, kit and policy about the mutated files. */
export default defineConfig({
  resolve: { alias: sourceAlias },
  test: {
    root: pathOf("../.."),
    include: [
      "packages/{core,kit}/src/**/{registry,middleware,guard,pathScope,pathStyle,pathPatterns,deniedPaths,atomicWrite,testing}*.test.ts",
      "packages/policy/src/{judge,programs,remembered,rules,shell}/*.test.ts",
      "packages/policy/src/{options,policy,precedence,wildcards}.test.ts",
    ],
    setupFiles: [pathOf("mutantInChildren.ts")],
    testTimeout: 20_000,
  },
});
