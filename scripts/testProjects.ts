import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { compileCacheOfRun } from "./compileCache.ts";
import { packageFolders, sourceAlias } from "./sourceAlias.ts";
import { threadWorkers } from "./threadWorkers.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Folders with tests, relative to the root. */
export const testFolders: readonly string[] = [
  ...packageFolders,
  ...["testing", "testing/agent", "scripts", "examples", "docs"].filter((folder) => existsSync(`${root}${folder}`)),
];

/** `test` is what `npm test` runs; `process` what needs servers or programs that must be installed. */
export type TestKind = "test" | "process";

/** The files of a folder's tests, as globs relative to `root`. */
export function testFiles(folder: string, kind: TestKind, base = folder): string[] {
  const ending = kind === "process" ? "process.test.ts" : "!(*.process).test.ts";
  const name = kind === "process" ? `*.${ending}` : ending;
  const at = base === "" ? "" : `${base}/`;
  return ["examples", "scripts"].includes(folder) ? [`${at}**/${name}`] : [`${at}src/**/${name}`, `${at}${name}`];
}

/** Makes the options of vitest for all tests, however they are divided into projects. */
export function testOptions() {
  return {
    resolve: { alias: sourceAlias },
    plugins: [threadWorkers],
    test: {
      exclude: ["**/node_modules/**"],
      // Files share a process, so a test leaves nothing behind in it. One that needs modules of its own resets them before and after.
      isolate: false,
      fsModuleCache: true,
      // Many tests wait for processes and time limits, so a few more files than cores run at once.
      maxWorkers: availableParallelism() + 2,
      setupFiles: [`${root}scripts/seed.ts`],
      // Tests start Node processes: compiling the same modules again would be half of their time.
      env: { NODE_COMPILE_CACHE: compileCacheOfRun() },
      // Ends a test that hangs. A slow machine never reaches it.
      testTimeout: 600_000,
      expect: { poll: { timeout: 120_000 } },
      hookTimeout: 180_000,
    },
  };
}

/** The name of a folder's project in vitest and Nx. */
export function projectName(folder: string): string {
  if (folder.startsWith("packages/")) return folder.replace("packages/", "@toolcrib/");
  return folder.startsWith("testing") ? `@toolcrib/${folder.replace("/", "-")}` : folder;
}
