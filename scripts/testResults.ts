import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Reporter, TestModule, TestRunEndReason } from "vitest/node";
import { projectName, testFolders } from "./testProjects.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Writes what the tests of each project came to into `.nx/tests/PROJECT.json`, for Nx's cache. `run` names the command that ran them,
 * `loaded` the files of the workspace that they used. An error that belongs to no test is a failure of every project.
 */
export default class TestResults implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[], reason: TestRunEndReason): void {
    // What did not run counts as skipped, which is no result to keep.
    if (reason === "interrupted") return;
    const reads = takeReads();
    for (const [folder, own] of Map.groupBy(modules, ({ relativeModuleId }) => folderOf(relativeModuleId))) {
      const counts = countTests(own);
      counts.failed += unhandled.length;
      const file = join(root, ".nx/tests", `${projectName(folder)}.json`);
      mkdirSync(dirname(file), { recursive: true });
      const loaded = [
        ...new Set(own.flatMap((module) => [...importedBy(module), ...(reads.get(module.relativeModuleId) ?? [])])),
      ];
      writeFileSync(
        file,
        `${JSON.stringify({ ...counts, run: process.env.TOOLCRIB_NX_RUN, loaded: loaded.sort() })}\n`,
      );
    }
  }
}

/** The files of the workspace that a test file imports, itself included. */
function importedBy(module: TestModule): string[] {
  const graph = module.viteEnvironment?.moduleGraph;
  const start = graph?.getModuleById(module.moduleId);
  const found = new Set(start && [start]);
  for (const one of found) for (const next of one.importedModules) found.add(next);
  return [...found].flatMap(({ file }) =>
    file?.startsWith(root) && !file.includes("/node_modules/") ? [file.slice(root.length)] : [],
  );
}

/** By test file, the files that `recordReads.ts` has seen. */
function takeReads(): Map<string, readonly string[]> {
  const folder = join(root, ".nx/reads");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const lines = names.flatMap((name) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n"));
  rmSync(folder, { recursive: true, force: true });
  return new Map(
    lines.map((line) => {
      const { test, files } = JSON.parse(line) as { test: string; files: string[] };
      return [test, files.filter((file) => existsSync(join(root, file)))];
    }),
  );
}

/** The innermost folder of tests that holds a file. */
function folderOf(file: string): string {
  const [folder = ""] = testFolders.filter((one) => file.startsWith(`${one}/`)).sort((a, b) => b.length - a.length);
  return folder;
}

export function countTests(modules: readonly TestModule[]): TestCounts {
  const count = { passed: 0, failed: 0, skipped: 0 };
  for (const module of modules) {
    const before = count.failed;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") count.passed += 1;
      else if (state === "skipped") count.skipped += 1;
      else count.failed += 1;
    }
    // A file that did not load has no failed test to count.
    if (module.state() === "failed" && count.failed === before) count.failed += 1;
  }
  return count;
}

export function closingLine({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
