// `npm run release:sbom [-- FOLDER]`: what each published package brings with it, as CycloneDX, in sbom/ or the folder given: one file
// a package, `NAME-VERSION.cdx.json`. pnpm knows versions, hashes and licences; what only this workspace has is taken out.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { runPnpm } from "../runPnpm.mjs";
import { runtimeTree } from "../runtimeTree.mjs";
import { fail, root } from "./packages.mjs";

const folder = resolve(process.argv[2] ?? join(root, "sbom"));
mkdirSync(folder, { recursive: true });
const out = join(relative(root, folder), "%s-%v.cdx.json");
const failure = runPnpm([
  "--filter=./packages/*",
  "sbom",
  "--split",
  "--prod",
  "--sbom-format=cyclonedx",
  "--out",
  out,
]);
if (failure !== undefined) fail(`pnpm sbom failed:\n${failure}`);

for (const name of readdirSync(join(root, "packages"))) {
  const [self, ...others] = [...runtimeTree(join(root, "packages", name)).keys()].map(toPurl);
  const own = new Set([self, ...others]);
  const file = join(folder, `toolcrib-${name}-${self.split("@").pop()}.cdx.json`);
  const bom = JSON.parse(readFileSync(file, "utf8"));
  // Optional peers are installed here for the tests. A user has them only by choice.
  bom.components = bom.components.filter(({ purl }) => own.has(purl));
  bom.dependencies = bom.dependencies
    .filter(({ ref }) => own.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => own.has(one)) }));
  const named = new Set(bom.components.map(({ purl }) => purl));
  const missing = others.filter((purl) => !named.has(purl));
  if (missing.length > 0) fail(`the SBOM of ${name} does not name ${missing.join(", ")}`);
  writeFileSync(file, `${JSON.stringify(bom, undefined, 2)}\n`);
}
/** https://github.com/package-url/purl-spec: `@scope/name@1.0.0` to `pkg:npm/%40scope/name@1.0.0`. */
function toPurl(key) {
  return `pkg:npm/${key.replace(/^@/, "%40")}`;
}

console.log(`an SBOM of each package in ${folder}`);
