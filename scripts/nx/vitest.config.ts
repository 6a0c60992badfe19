import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { projectName, testFiles, testFolders, testOptions } from "../testProjects.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { test, ...options } = testOptions();
const wanted = process.env.TOOLCRIB_NX_PROJECTS?.split(" ");
const folders = testFolders.filter((folder) => wanted?.includes(projectName(folder)) ?? true);

/** One project for the tests of all: a module that several use is read and loaded once for each process, not once for each project. */
export default defineConfig({
  ...options,
  test: {
    ...test,
    root,
    setupFiles: [...test.setupFiles, `${root}scripts/recordReads.ts`],
    include: folders.flatMap((folder) => testFiles(folder, "test")),
    reporters: ["default", `${root}scripts/testResults.ts`],
  },
});
