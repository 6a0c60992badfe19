// Publishes every package whose version the registry does not have, under a temporary tag, and checks that the whole set is there.
// `latest` stays where it is: promote.mjs moves it. Run again after a failure: it goes on with what is missing.
//   node scripts/release/publish.mjs [--tag next] [--staged] [--dry-run]
// With --staged npm keeps each package back until a maintainer approves it (npm 11.15 or later).
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fail, flagValue, npm, onRegistry, releasedSet, root } from "./packages.mjs";

/** How often, and how many times, a registry is asked whether it shows what it has taken. */
const pauseMs = 5_000;
const looks = 60;

const tag = flagValue("--tag", "next");
const npmFlags = ["--tag", tag, "--access", "public", "--loglevel", "warn"];
const staged = process.argv.includes("--staged");
if (!/^[a-z][a-z-]*$/.test(tag ?? "")) fail(`--tag takes a word such as next, not ${JSON.stringify(tag)}`);
if (tag === "latest") fail("nothing is published as latest: publish under another tag, then run promote.mjs");

const set = releasedSet();
const pending = readdirSync(join(root, ".changeset")).filter((file) => file.endsWith(".md") && file !== "README.md");
if (pending.length > 0) {
  fail(`${pending.length} changesets are in no version yet; run npm run release:version, commit, and publish that`);
}

const known = await Promise.all(set.map(async (each) => ({ ...each, ...(await onRegistry(each.name)) })));
const isThere = ({ version, versions }) => version in versions;
const missing = known.filter((each) => !isThere(each));
// What `latest` shows came from an earlier release, and may have been built by older tools.
const isReleased = ({ version, tags }) => tags.latest === version;
const unreleased = known.filter((each) => !isReleased(each));

const folder = mkdtempSync(join(tmpdir(), "toolcrib-release-"));
try {
  const tarballs = pack(unreleased, folder);
  for (const each of unreleased.filter(isThere)) checkSame(each, each.versions[each.version], tarballs);
  const told = missing.map(({ name, version }) => `${name}@${version}`).join(", ");
  console.log(missing.length > 0 ? `release: to publish under ${tag}: ${told}` : "release: nothing to publish");
  if (!process.argv.includes("--dry-run")) {
    if (staged) stage(missing, tarballs);
    else {
      for (const each of missing) publish(each, tarballs.get(each.name).file);
      await checkWhole(unreleased, tarballs);
      console.log("release: the whole set is on the registry; run npm run release:promote to move latest");
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The tarball of each package, and what the registry will call its contents. */
function pack(packages, destination) {
  if (packages.length === 0) return new Map();
  const args = [join(root, "scripts/packAll.mjs"), destination, ...packages.map(({ name }) => name)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) fail(`packing failed:\n${stdout}${stderr}`);
  const files = JSON.parse(readFileSync(join(destination, "overrides.json"), "utf8"));
  return new Map(
    Object.entries(files).map(([name, address]) => {
      const file = address.slice("file:".length);
      const hash = createHash("sha512").update(readFileSync(file)).digest("base64");
      return [name, { file, integrity: `sha512-${hash}` }];
    }),
  );
}

/** Goes on after a refusal: what an earlier run staged is refused, and a trusted publisher cannot ask what that was. */
function stage(packages, tarballs) {
  const refused = packages.filter(({ name }) => !npm(["stage", "publish", tarballs.get(name).file, ...npmFlags]));
  if (refused.length > 0) {
    const told = refused.map(({ name, version }) => `${name}@${version}`).join(", ");
    fail(`could not be staged: ${told}. See npm stage list for those that were staged before`);
  }
  if (packages.length > 0) {
    console.log("release: staged; approve each with npm stage approve, then run npm run release:promote");
  }
}

function publish({ name, version }, file) {
  if (!npm(["publish", file, ...npmFlags])) {
    fail(
      `${name}@${version} could not be published; latest has not moved. Run this again to go on with what is missing`,
    );
  }
}

/** A version that an earlier run published has to be this build, or the set would be a mixture. */
function checkSame({ name, version }, integrity, tarballs) {
  if (integrity !== tarballs.get(name).integrity) {
    fail(
      `${name}@${version} is on the registry with other contents than this build. ` +
        "Publish from the commit that it came from, or give it a new version",
    );
  }
}

/** A registry may take a while to show what it has taken. */
async function checkWhole(packages, tarballs) {
  let absent = packages;
  for (let look = 0; look < looks && absent.length > 0; look++) {
    if (look > 0) await sleep(pauseMs);
    const found = await Promise.all(absent.map(async (each) => (await onRegistry(each.name)).versions[each.version]));
    for (const [index, integrity] of found.entries()) if (integrity) checkSame(absent[index], integrity, tarballs);
    absent = absent.filter((_, index) => !found[index]);
  }
  if (absent.length > 0) {
    const told = absent.map(({ name, version }) => `${name}@${version}`).join(", ");
    fail(`the registry does not show ${told}; latest has not moved. Run this again`);
  }
}
