import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { testFiles, testFolders, testOptions } from "../scripts/testProjects.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { test, ...options } = testOptions();

/** The tests that need servers or programs which must be installed, `*.process.test.ts`: `.ci/run` runs them. */
export default defineConfig({
  ...options,
  test: {
    ...test,
    root,
    include: testFolders.flatMap((folder) => testFiles(folder, "process")),
    reporters: ["default", `${root}scripts/closingLine.ts`],
  },
});
