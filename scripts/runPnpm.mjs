// Runs the pnpm that `packageManager` of the root names, in the root.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** All that it printed, where it failed. Paths in `args` are relative to the root: the shell of Windows would split one with a space. */
export function runPnpm(args) {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const shell = process.platform === "win32";
  const run = spawnSync("npx", ["-y", packageManager, ...args], { cwd: root, encoding: "utf8", shell });
  return run.status === 0 ? undefined : `${run.stdout ?? ""}${run.stderr ?? ""}${run.error ?? ""}`;
}
