// publint and are-the-types-wrong on every published package, and no install script among run-time dependencies.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
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
  for (const script of installScripts(folder)) report(`packages/${name}: ${script} has an install script`);
}

function run(folder, command, args) {
  const result = spawnSync(command, args, { cwd: folder, encoding: "utf8", shell: process.platform === "win32" });
  if (result.status !== 0) report(`${command} in ${folder}:\n${result.stdout}${result.stderr}${result.error ?? ""}`);
}

/** Names of run-time dependencies, theirs included, that npm would run a script of at install. */
function installScripts(folder, seen = new Set()) {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return Object.keys(dependencies).flatMap((dependency) => {
    if (seen.has(dependency)) return [];
    seen.add(dependency);
    const home = createRequire(join(folder, "package.json"))
      .resolve.paths(dependency)
      .map((path) => join(path, dependency))
      .find((path) => existsSync(join(path, "package.json")));
    if (!home) return [];
    const { scripts = {} } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
    const own = ["preinstall", "install", "postinstall"].some((script) => script in scripts) ? [dependency] : [];
    return [...own, ...installScripts(home, seen)];
  });
}

function report(problem) {
  failed = true;
  console.error(`packages: ${problem}`);
}

process.exitCode = failed ? 1 : 0;
