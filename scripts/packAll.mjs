// Packs every published package, or those named, as built, into tarballs/ (or the folder given before the names): pnpm writes out
// `workspace:` and `catalog:`, which other package managers cannot read. `overrides.json` beside them names each by its file, for
// those that look on the registry first.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tarballs = resolve(process.argv[2] ?? join(root, "tarballs"));
if (process.argv[2] === undefined) rmSync(tarballs, { recursive: true, force: true });

const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
// A relative destination: the shell of Windows would split a path with a space.
const wanted = process.argv.length > 3 ? process.argv.slice(3) : ["./packages/*"];
const filters = wanted.map((each) => `--filter=${each}`);
const args = ["-y", packageManager, ...filters, "pack", "--pack-destination", relative(root, tarballs)];
const run = spawnSync("npx", args, { cwd: root, encoding: "utf8", shell: process.platform === "win32" });
if (run.status !== 0) {
  console.error(`pack: pnpm failed:\n${run.stdout ?? ""}${run.stderr ?? ""}${run.error ?? ""}`);
  process.exit(1);
}
const packed = readdirSync(tarballs).filter((file) => file.endsWith(".tgz"));
const overrides = packed.map((file) => [
  `@toolcrib/${/^toolcrib-(.+)-\d+\.\d+\.\d+/.exec(file)[1]}`,
  `file:${join(tarballs, file)}`,
]);
writeFileSync(join(tarballs, "overrides.json"), `${JSON.stringify(Object.fromEntries(overrides), undefined, 2)}\n`);
console.log(`${packed.length} packages in tarballs; in your project: npm install ${join(tarballs, "*.tgz")}`);
