// `npm start`: the toolcrib command of this clone, in the directory the user is in; the demo when nothing is asked for.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = new URL("../packages/cli/dist/bin.js", import.meta.url);
build();
process.chdir(process.env.INIT_CWD ?? ".");
if (process.argv.length === 2) process.argv.push("demo");
await import(bin.href);

/** Brings the build up to date. What it prints is shown on standard error only when it fails. */
function build() {
  if (!existsSync(bin)) console.error("Building, which takes a while the first time.");
  const args = ["nx", "run", "@toolcrib/cli:build", "--output-style=static"];
  const shell = process.platform === "win32";
  const run = spawnSync("npx", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], shell });
  if (run.status === 0) return;
  process.stderr.write(`${run.stdout ?? ""}${run.stderr ?? ""}`);
  console.error("start: the build failed; see the lines above.");
  process.exit(run.status ?? 1);
}
