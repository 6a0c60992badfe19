// `npm run release:version`: versions and changelogs by the changesets. A package without a changelog was never released: its first
// version is the one in its manifest. The examples name released versions, so they follow.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail, root } from "./packages.mjs";

const unreleased = "0.0.0";
const manifests = (folder) =>
  readdirSync(join(root, folder))
    .map((name) => join(root, folder, name, "package.json"))
    .filter((file) => existsSync(file));
const read = (file) => JSON.parse(readFileSync(file, "utf8"));
const write = (file, manifest) => writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);

const first = manifests("packages")
  .filter((file) => !existsSync(join(file, "../CHANGELOG.md")))
  .map((file) => ({ file, ...read(file) }));
for (const { file } of first) write(file, { ...read(file), version: unreleased });
const { status } = spawnSync(process.execPath, [join(root, "node_modules/@changesets/cli/bin.js"), "version"], {
  cwd: root,
  stdio: "inherit",
});
const wrong = first.filter(({ file, version }) => read(file).version !== version);
for (const { file, version } of first) if (status !== 0) write(file, { ...read(file), version });
if (status !== 0) fail("changeset version failed");
if (wrong.length > 0) {
  const told = wrong.map(({ name, version, file }) => `${name} ${version} (would be ${read(file).version})`).join(", ");
  fail(
    `a first release with another version than its manifest names: ${told}. Undo this, and give it one minor changeset`,
  );
}

const versions = new Map(manifests("packages").map((file) => [read(file).name, read(file).version]));
for (const file of manifests("examples")) {
  const manifest = read(file);
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    if (versions.has(name)) manifest.dependencies[name] = `^${versions.get(name)}`;
  }
  write(file, manifest);
}

// What the next changes of tools and types are held against.
const contracts = spawnSync(process.execPath, [join(root, "scripts/contracts.mjs"), "--released"], {
  stdio: "inherit",
});
if (contracts.status !== 0) fail("the reports in packages/*/api could not be kept as those of this release");
