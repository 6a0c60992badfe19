// `npm run release:version`: versions and changelogs by the changesets; the reports of what is published become those of the last
// release; the examples name the new versions. A package without a changelog was never released: its first version is the one in
// its manifest, and its first changelog the text of `.changeset/first-NAME.md`.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readChangeset } from "../contracts/requiredBump.mjs";
import { fail, pendingChangesets, root } from "./packages.mjs";

const manifestsOf = (folder) =>
  readdirSync(join(root, folder))
    .map((name) => join(root, folder, name, "package.json"))
    .filter((file) => existsSync(file));
const read = (file) => JSON.parse(readFileSync(file, "utf8"));
const write = (file, manifest) => writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);

const packages = manifestsOf("packages");
const first = packages
  .filter((file) => !existsSync(join(file, "../CHANGELOG.md")))
  .map((file) => ({ file, ...read(file) }));
for (const { file } of first) write(file, { ...read(file), version: "0.0.0" });
dropEarlierChanges();
run("node_modules/@changesets/cli/bin.js", "version");
const wrong = first.filter(({ file, version }) => read(file).version !== version);
if (wrong.length > 0) {
  const told = wrong
    .map(({ name, version, file }) => `${name}: ${read(file).version} instead of ${version}`)
    .join(", ");
  fail(`a first version that is not the one of the manifest (${told}). Undo this by git, and add a minor changeset`);
}
// A first release is no smaller or larger than an earlier one.
for (const { file } of first) {
  const changelog = join(file, "../CHANGELOG.md");
  writeFileSync(changelog, readFileSync(changelog, "utf8").replace(/^### (Minor|Patch) Changes\n\n/gm, ""));
}

const versions = new Map(packages.map(read).map(({ name, version }) => [name, version]));
for (const file of manifestsOf("examples")) {
  const manifest = read(file);
  for (const ranges of [manifest.dependencies, manifest.devDependencies]) {
    for (const name of Object.keys(ranges ?? {})) if (versions.has(name)) ranges[name] = `^${versions.get(name)}`;
  }
  write(file, manifest);
}
run("scripts/contracts.mjs", "--released");

/** Nobody has a version that these changes were made to: the text of a first release says what there is now. */
function dropEarlierChanges() {
  const folder = join(root, ".changeset");
  const texts = first.map(({ file, name }) => ({ name, text: `first-${basename(dirname(file))}.md` }));
  const described = new Set(texts.filter(({ text }) => existsSync(join(folder, text))).map(({ name }) => name));
  for (const changeset of pendingChangesets().filter((name) => !name.startsWith("first-"))) {
    if (!readChangeset(join(folder, changeset)).every(([name]) => described.has(name))) continue;
    rmSync(join(folder, changeset));
    console.log(`release: ${changeset} is not in a changelog, as it is about packages that were never released`);
  }
}

function run(script, ...args) {
  const { status } = spawnSync(process.execPath, [join(root, script), ...args], { cwd: root, stdio: "inherit" });
  if (status !== 0) fail(`${script} ${args.join(" ")} failed. Undo this by git`);
}
