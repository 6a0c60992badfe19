import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { projectName, testFiles, testFolders, testOptions } from "./scripts/testProjects.ts";

const root = fileURLToPath(new URL(".", import.meta.url));
const { test, ...options } = testOptions();

/** For work on a package: `vitest run --project NAME`. `npm test` runs `scripts/nx/vitest.config.ts`, where all projects share their modules. */
export default defineConfig({
  test: {
    maxWorkers: test.maxWorkers,
    reporters: ["default", `${root}scripts/closingLine.ts`],
    projects: testFolders.map((folder) => ({
      ...options,
      test: { ...test, name: projectName(folder), root: `${root}${folder}`, include: testFiles(folder, "test", "") },
    })),
    coverage: { provider: "v8", include: ["packages/*/src/**"] },
  },
});
