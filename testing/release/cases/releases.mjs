// Making a release: the versions and changelogs, the set that is published as one, and what `latest` shows meanwhile.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../checkout.mjs";
import { withBrokenRegistry } from "../registry.mjs";
import { firstRelease, firstVersions, registry, release, stableRelease } from "../story.mjs";
import { newUser } from "../user.mjs";

const names = ["@toolcrib/core", "@toolcrib/tools-fs", "@toolcrib/defaults"];

/** Reads the registry's entry of a package. */
async function shown(name) {
  const { url } = await registry();
  const response = await fetch(`${url}${name.replace("/", "%2f")}`);
  return await response.json();
}

const latest = async (name) => (await shown(name))["dist-tags"].latest;

async function firstIsZeroOne() {
  const checkout = await firstVersions();
  for (const [name, { version }] of Object.entries(checkout.packages()))
    assert.equal(`${name} ${version}`, `${name} 0.1.0`);
}

/** Its own text and nothing else: nobody has an earlier version that anything could have changed in. */
async function firstChangelogs() {
  const checkout = await firstVersions();
  for (const folder of readdirSync(join(checkout.folder, "packages"))) {
    const text = readFileSync(join(repository, `.changeset/first-${folder}.md`), "utf8")
      .split(/^---$/m)[2]
      .trim();
    assert.match(text, /^The first release: /);
    assert.equal(checkout.read(`packages/${folder}/CHANGELOG.md`), `# @toolcrib/${folder}\n\n## 0.1.0\n\n${text}\n`);
  }
  const left = readdirSync(join(checkout.folder, ".changeset")).filter((file) => file.endsWith(".md"));
  assert.deepEqual(left, [], "changesets are left over");
}

async function wholeSet() {
  const checkout = await firstRelease();
  const packages = checkout.packages();
  for (const [name, { version }] of Object.entries(packages)) {
    const { versions, "dist-tags": tags } = await shown(name);
    assert.deepEqual(tags, { latest: version, next: version });
    for (const [dependency, range] of Object.entries(versions[version].dependencies ?? {})) {
      assert.doesNotMatch(range, /workspace|catalog/);
      if (dependency in packages) assert.equal(range, `^${packages[dependency].version}`);
    }
  }
}

async function again() {
  const checkout = await firstRelease();
  const { stdout: published } = await checkout.publish();
  assert.match(published, /nothing to publish/);
  const { stdout: promoted } = await checkout.promote();
  assert.match(promoted, /to move: nothing/);
}

async function neverLatest() {
  const checkout = await firstRelease();
  const refused = await rejection(checkout.publish(["--tag", "latest"]));
  assert.match(refused, /nothing is published as latest/);
}

async function unversioned() {
  const checkout = await firstRelease();
  await checkout.addChangeset({ "@toolcrib/core": "patch" });
  try {
    assert.match(await rejection(checkout.publish()), /1 changesets? .* no version yet/);
  } finally {
    await checkout.git("clean", "--quiet", "--force", ".changeset");
  }
}

async function staged() {
  const checkout = await stableRelease();
  const before = await Promise.all(names.map(shown));
  await checkout.makeVersions({ "@toolcrib/tools-fs": "patch" });
  const { stdout: planned } = await checkout.publish(["--dry-run"]);
  assert.match(planned, /to publish under next: @toolcrib\/tools-fs@[\d.]+\n$/);
  // This registry has no staging: nothing may become public instead.
  assert.match(await rejection(checkout.publish(["--staged"])), /could not be staged: @toolcrib\/tools-fs@/);
  const after = await Promise.all(names.map(shown));
  assert.deepEqual(
    after.map((each) => each["dist-tags"]),
    before.map((each) => each["dist-tags"]),
  );
  await release(checkout);
}

/** The files that a user can read without the network. */
async function changelogInside() {
  const user = await newUser("changelog");
  await firstRelease();
  await user.install("@toolcrib/core@0.1.0");
  const text = readFileSync(join(user.folder, "node_modules/@toolcrib/core/CHANGELOG.md"), "utf8");
  assert.match(text, /^# @toolcrib\/core\n\n## 0\.1\.0\n/);
}

/** A publish that breaks off in the middle, what users get meanwhile, and how it goes on. */
async function halfPublished() {
  const checkout = await stableRelease();
  const { url, npmrc } = await registry();
  const old = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await latest(name)])));
  const user = await newUser("half-caret");
  await user.install(...names);

  await checkout.makeVersions(Object.fromEntries(names.map((name) => [name, "minor"])));
  const versions = checkout.packages();
  await withBrokenRegistry(url, "@toolcrib/tools-fs", async (broken) => {
    checkout.useRegistry(npmrc(broken));
    assert.match(await rejection(checkout.publish()), /tools-fs@.* could not be published; latest has not moved/);
  });
  checkout.useRegistry(npmrc());

  const { "dist-tags": tags } = await shown("@toolcrib/core");
  assert.deepEqual(tags, { latest: old["@toolcrib/core"], next: versions["@toolcrib/core"].version });
  assert.match(
    await rejection(checkout.promote()),
    /latest has not moved: the registry does not have @toolcrib\/tools-fs@/,
  );
  const stranger = await newUser("half-stranger");
  await Promise.all([user.npm("update"), stranger.install(...names)]);
  for (const name of names) {
    assert.equal(await latest(name), old[name]);
    assert.equal(user.versionOf(name), old[name], "a caret user was given a half-published version");
    assert.equal(stranger.versionOf(name), old[name], "a new user was given a half-published version");
  }

  const built = "packages/core/dist/index.js";
  const text = checkout.read(built);
  checkout.editBuilt(built, text, `${text}\n// Another build.\n`);
  assert.match(await rejection(checkout.publish()), /@toolcrib\/core@.* on the registry with other contents/);
  checkout.editBuilt(built, `${text}\n// Another build.\n`, text);

  const { stdout } = await checkout.publish();
  assert.match(stdout, /to publish under next: @toolcrib\/tools-fs@[\d.]+, @toolcrib\/defaults@[\d.]+\n/);
  checkout.editBuilt(built, text, `${text}\n// Another build.\n`);
  assert.match(await rejection(checkout.promote()), /@toolcrib\/core@.* on the registry with other contents/);
  for (const name of names) assert.equal(await latest(name), old[name], "a set of two builds was promoted in part");
  checkout.editBuilt(built, `${text}\n// Another build.\n`, text);
  await checkout.promote();
  await user.npm("update");
  for (const name of names) {
    assert.equal(await latest(name), versions[name].version);
    assert.equal(user.versionOf(name), versions[name].version);
  }
}

async function olderCheckout() {
  const checkout = await stableRelease();
  await checkout.git("checkout", "--quiet", "main~2");
  try {
    assert.match(await rejection(checkout.promote()), /latest has not moved: .* this checkout is older/);
  } finally {
    await checkout.git("checkout", "--quiet", "main");
  }
}

async function rejection(promise) {
  const failed = await promise.then(
    () => undefined,
    (error) => error,
  );
  assert.ok(failed, "it was expected to fail");
  return failed.message;
}

export const firstReleases = [
  ["the changesets lead to 0.1.0 for every package", firstIsZeroOne, { short: true }],
  ["each first changelog is the text of the first release alone", firstChangelogs, { short: true }],
  [
    "a release is whole: every package, versions instead of workspace ranges, latest and next",
    wholeSet,
    { short: true },
  ],
  ["an installed package has its changelog", changelogInside],
  ["a release made twice changes nothing", again],
  ["nothing is published as latest", neverLatest, { short: true }],
  ["changesets without a version are not published", unversioned],
];
export const laterReleases = [
  ["a half-published set is never what latest shows, and publishing goes on", halfPublished, { short: true }],
  ["a registry without staging gets nothing from a staged publish", staged],
  ["an older checkout cannot move latest back", olderCheckout],
];
