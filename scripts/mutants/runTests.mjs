import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Runs the tests that reach the file of a mutant, up to the first failure. `before` is the line as it was when the mutant was drawn: a file
 * that has changed since is looked through for it. `killedBy` is the first test that failed, undefined if none did; `gone` means that the
 * line is there no more. `words` choose tests.
 */
export function runTests(root, { file, line, before, after }, words = projectOf(file)) {
  const path = join(root, file);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const all = text.split("\n");
  const at = all[line - 1] === before ? line - 1 : all.indexOf(before);
  if (at === -1) return { gone: true };
  const folder = mkdtempSync(join(tmpdir(), "mutant-"));
  const report = join(folder, "report.json");
  try {
    writeFileSync(path, all.with(at, after).join("\n"));
    const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "related", file, "--run", "--bail=1", ...words];
    const { error, stderr } = spawnSync(process.execPath, [...vitest, "--reporter=json", `--outputFile=${report}`], {
      cwd: root,
      stdio: ["ignore", "ignore", "pipe"],
      encoding: "utf8",
      timeout: 600_000,
    });
    if (error?.code === "ETIMEDOUT") return { killedBy: "no end within ten minutes" };
    if (!existsSync(report)) throw new Error(`vitest wrote no report:\n${stderr}`);
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    const failed = testResults
      .filter(({ status }) => status === "failed")
      .map(({ name, assertionResults }) => [name, assertionResults.find(({ status }) => status === "failed")]);
    // A file that was stopped by the first failure is reported as failed, too.
    const [name, test] = failed.find(([, assertion]) => assertion !== undefined) ?? failed[0] ?? [];
    if (name === undefined) return {};
    return { killedBy: `${name.slice(root.length).replace(/^\//, "")}: ${test?.fullName ?? "does not load"}` };
  } finally {
    writeFileSync(path, text);
    rmSync(folder, { recursive: true, force: true });
  }
}

function projectOf(file) {
  return ["--project", file.replace(/^packages\/([^/]+)\/.*/, "@toolcrib/$1")];
}
