// Packs every published package, or those named, as built, into tarballs/ (or the folder given before the names): pnpm writes out
// `workspace:` and `catalog:`, which other package managers cannot read. `overrides.json` beside them names each by its file, for
// those that look on the registry first.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { runPnpm } from "./runPnpm.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tarballs = resolve(process.argv[2] ?? join(root, "tarballs"));
if (process.argv[2] === undefined) rmSync(tarballs, { recursive: true, force: true });

const wanted = process.argv.length > 3 ? process.argv.slice(3) : ["./packages/*"];
const filters = wanted.map((each) => `--filter=${each}`);
const failure = runPnpm([...filters, "pack", "--pack-destination", relative(root, tarballs)]);
if (failure !== undefined) {
  console.error(`pack: pnpm failed:\n${failure}`);
  process.exit(1);
}
const packed = readdirSync(tarballs).filter((file) => file.endsWith(".tgz"));
const overrides = packed.map((file) => [
  `@toolcrib/${/^toolcrib-(.+)-\d+\.\d+\.\d+/.exec(file)[1]}`,
  `file:${join(tarballs, file)}`,
]);
writeFileSync(join(tarballs, "overrides.json"), `${JSON.stringify(Object.fromEntries(overrides), undefined, 2)}\n`);
console.log(
  `${packed.length} packages in tarballs; npm run -s packed -- defaults prints the line that installs some of them`,
);
