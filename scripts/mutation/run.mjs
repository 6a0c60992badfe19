// Runs Stryker on a clone of the last commit, since it edits the sources in place: a developer's tree is never touched.
// Arguments go to Stryker: `npm run test:mutation -- --mutate packages/core/src/registry/registry.ts`.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const clone = mkdtempSync(join(tmpdir(), "toolcrib-mutation-"));
// Some tests start a program as a user without rights, who must be able to read the sources.
chmodSync(clone, 0o755);
// Ctrl-C reaches the programs below, too; this one stays to clear up.
process.on("SIGINT", () => {});

const steps = [
  ["git", "clone", "--quiet", root, clone],
  [process.execPath, join(clone, "scripts/setup.mjs")],
  // Some tests start programs of the built packages.
  ["npm", "run", "-s", "build"],
  [join(clone, "node_modules/.bin/stryker"), "run", "scripts/mutation/stryker.config.json", ...process.argv.slice(2)],
];
try {
  for (const [program, ...args] of steps) {
    const { status } = spawnSync(program, args, { cwd: clone, stdio: "inherit", shell: process.platform === "win32" });
    process.exitCode = status ?? 1;
    if (status !== 0) break;
  }
  const reports = join(clone, "reports/mutation");
  if (existsSync(reports)) cpSync(reports, join(root, "reports/mutation"), { recursive: true });
} finally {
  rmSync(clone, { recursive: true, force: true });
}
