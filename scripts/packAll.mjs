// Packs every published package, as built, into tarballs/: pnpm writes out `workspace:` and `catalog:`, which npm cannot read.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tarballs = join(root, "tarballs");
rmSync(tarballs, { recursive: true, force: true });

const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
// A relative destination: the shell of Windows would split a path with a space.
const args = ["-y", packageManager, "--filter=./packages/*", "pack", "--pack-destination", "tarballs"];
const run = spawnSync("npx", args, { cwd: root, encoding: "utf8", shell: process.platform === "win32" });
if (run.status !== 0) {
  console.error(`pack: pnpm failed:\n${run.stdout ?? ""}${run.stderr ?? ""}${run.error ?? ""}`);
  process.exit(1);
}
const packed = readdirSync(tarballs);
console.log(`${packed.length} packages in tarballs; in your project: npm install ${join(tarballs, "*.tgz")}`);
