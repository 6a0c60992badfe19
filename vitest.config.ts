import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { compileCacheOfRun } from "./scripts/compileCache.ts";
import { packageFolders, sourceAlias } from "./scripts/sourceAlias.ts";

const root = fileURLToPath(new URL(".", import.meta.url));
const compileCache = compileCacheOfRun();

const hasTypeTests = (folder: string): boolean =>
  existsSync(`${root}${folder}/src`) && readdirSync(`${root}${folder}/src`).some((name) => name.endsWith(".test-d.ts"));

const project = (folder: string, name: string) => ({
  resolve: { alias: sourceAlias },
  test: {
    name,
    root: `${root}${folder}`,
    include: ["examples", "scripts"].includes(folder) ? ["**/*.test.ts"] : ["src/**/*.test.ts", "*.test.ts"],
    // Files share a process, so a test leaves nothing behind in it. One that needs modules of its own resets them before and after.
    isolate: false,
    setupFiles: [`${root}scripts/seed.ts`],
    // Tests start hundreds of Node processes: compiling the same modules again would be half of their time.
    env: { NODE_COMPILE_CACHE: compileCache },
    // Ends a test that hangs. A slow machine never reaches it.
    testTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    hookTimeout: 180_000,
    typecheck: {
      enabled: hasTypeTests(folder),
      // What `tsc -b` has checked just before is not checked again.
      build: true,
      // `tsc -b` reports those, before the tests run.
      ignoreSourceErrors: true,
      include: ["src/**/*.test-d.ts"],
      tsconfig: `${root}tsconfig.tests.json`,
    },
  },
});

export default defineConfig({
  test: {
    // Many tests wait for processes and time limits, so a few more files than cores run at once.
    maxWorkers: availableParallelism() + 2,
    reporters: ["default", `${root}scripts/closingLine.ts`],
    projects: [
      ...packageFolders.map((folder) => project(folder, folder.replace("packages/", "@toolcrib/"))),
      project("testing", "@toolcrib/testing"),
      project("scripts", "scripts"),
      project("examples", "examples"),
      project("docs", "docs"),
    ],
    coverage: { provider: "v8", include: ["packages/*/src/**"] },
  },
});
