// publint and are-the-types-wrong on every published package.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
let failed = false;

for (const name of readdirSync(join(root, "packages"))) {
  const folder = join(root, "packages", name);
  if (!existsSync(join(folder, "package.json"))) continue;
  run(folder, "publint", ["--strict", "--pack", "npm"]);
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const entries = Object.keys(exports).filter((entry) => entry !== "./package.json" && !entry.endsWith(".json"));
  run(folder, "attw", ["--pack", ".", "--profile", "esm-only", "--format", "ascii", "--entrypoints", ...entries]);
}

function run(folder, command, args) {
  const result = spawnSync(command, args, { cwd: folder, encoding: "utf8", shell: process.platform === "win32" });
  if (result.status !== 0) report(`${command} in ${folder}:\n${result.stdout}${result.stderr}${result.error ?? ""}`);
}

function report(problem) {
  failed = true;
  console.error(`packages: ${problem}`);
}

process.exitCode = failed ? 1 : 0;
