// publint and are-the-types-wrong on every published package.
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
let failed = false;

const waiting = readdirSync(join(root, "packages"))
  .map((name) => join(root, "packages", name))
  .filter((folder) => existsSync(join(folder, "package.json")));
await Promise.all(Array.from({ length: availableParallelism() }, checkWaiting));

async function checkWaiting() {
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) await check(folder);
}

async function check(folder) {
  await run(folder, "publint", ["--strict", "--pack", "npm"]);
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const entries = Object.keys(exports).filter((entry) => entry !== "./package.json" && !entry.endsWith(".json"));
  await run(folder, "attw", ["--pack", ".", "--profile", "esm-only", "--format", "ascii", "--entrypoints", ...entries]);
}

function run(folder, command, args) {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: folder, shell: process.platform === "win32" }, (error, stdout, stderr) => {
      if (error) report(`${command} in ${folder}:\n${stdout}${stderr || error.message}`);
      resolve();
    });
  });
}

function report(problem) {
  failed = true;
  console.error(`packages: ${problem}`);
}

process.exitCode = failed ? 1 : 0;
