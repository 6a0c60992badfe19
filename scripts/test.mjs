// The last step of `npm test`: Nx runs the tests of all projects whose inputs have changed since their last green run. Prints the
// projects that it answers from its cache, and `N passed, N failed` alone on the last line, the cached ones counted in.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectName, testFiles, testFolders } from "./testProjects.ts";
import { closingLine } from "./testResults.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const results = join(root, ".nx/tests");
const run = String(Date.now());
rmSync(results, { recursive: true, force: true });
const nx = join(root, "node_modules/nx/dist/bin/nx.js");
const { status } = spawnSync(
  process.execPath,
  [nx, "run-many", "-t", "test", "--exclude=toolcrib-example-*", "--output-style=stream", ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, TOOLCRIB_NX_RUN: run },
  },
);

const counts = { passed: 0, failed: 0, skipped: 0 };
const files = existsSync(results) ? globSync("**/*.json", { cwd: results }).sort() : [];
for (const file of files) {
  const own = JSON.parse(readFileSync(join(results, file), "utf8"));
  for (const state of Object.keys(counts)) counts[state] += own[state];
  if (own.run !== run) console.log(`cached: ${file.slice(0, -".json".length)}, ${closingLine(own)}`);
}
const chosen = process.argv.length > 2;
const expected = testFolders.filter((folder) => globSync(testFiles(folder, "test"), { cwd: root }).length > 0);
for (const name of chosen ? [] : expected.map(projectName).filter((name) => !files.includes(`${name}.json`))) {
  console.log(`no result: ${name}`);
  counts.failed += 1;
}
// A run that failed outside of a test counts as one failure.
if (status !== 0 && counts.failed === 0) counts.failed = 1;
console.log(closingLine(counts));
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
