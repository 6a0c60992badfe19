// Prints the line that installs packages from tarballs/: `npm run -s packed -- defaults mcp`. It names each package with all that it
// needs of ours, since npm would ask the registry for those that are missing.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tarballs = join(root, "tarballs");
const present = readdirSync(join(root, "packages")).filter((name) =>
  existsSync(join(root, "packages", name, "package.json")),
);

const wanted = process.argv.slice(2).map((name) => name.replace(/^@toolcrib\//, ""));
const unknown = wanted.filter((name) => !present.includes(name));
if (wanted.length === 0 || unknown.length > 0)
  fail(`${unknown.join(", ") || "no name"}: name some of ${present.join(", ")}`);

const files = existsSync(tarballs) ? readdirSync(tarballs) : [];
const paths = withNeeds(wanted).map((name) => {
  const file = files.find((each) => new RegExp(`^toolcrib-${name}-\\d.*\\.tgz$`).test(each));
  return file === undefined
    ? fail(`there is no tarball of ${name}; run npm run pack first`)
    : quoted(join(tarballs, file));
});
console.log(`npm install ${paths.join(" ")}`);

/** The names, and those of our packages that they depend on, each once. */
function withNeeds(names) {
  const all = new Set();
  const add = (name) => {
    if (all.has(name)) return;
    all.add(name);
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
    for (const each of Object.keys(dependencies))
      if (each.startsWith("@toolcrib/")) add(each.slice("@toolcrib/".length));
  };
  for (const name of names) add(name);
  return [...all];
}

function quoted(path) {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function fail(problem) {
  console.error(`packed: ${problem}`);
  process.exit(1);
}
