// Publishes every package whose version the registry does not have, under a temporary tag, and checks that the whole set is there.
// `latest` stays where it is: promote.mjs moves it. Run again after a failure: it goes on with what is missing.
//   node scripts/release/publish.mjs [--tag next] [--staged] [--tarballs FOLDER] [--dry-run]
// With --staged npm keeps each package back until a maintainer approves it (npm 11.15 or later). With --tarballs nothing is packed:
// they are what `npm run pack` made elsewhere, and npm is the only program that runs.
import { setTimeout as sleep } from "node:timers/promises";
import { fail, npm, onRegistry, options, pendingChangesets, releasedSet, told } from "./packages.mjs";
import { checkSame, pack, readTarballs } from "./tarballs.mjs";

/** The pause between questions to a registry that does not yet show what it accepted, and their number. */
const pauseMs = 5_000;
const looks = 60;

const {
  tag = "next",
  staged: isStaged,
  tarballs: packed,
  "dry-run": isDryRun,
} = options({
  tag: { type: "string" },
  staged: { type: "boolean" },
  tarballs: { type: "string" },
  "dry-run": { type: "boolean" },
});
const npmFlags = ["--tag", tag, "--access", "public", "--loglevel", "warn"];
if (!/^[a-z][a-z-]*$/.test(tag)) fail(`--tag takes a word such as next, not ${JSON.stringify(tag)}`);
if (tag === "latest") fail("nothing is published as latest: publish under another tag, then run promote.mjs");

const set = releasedSet();
const pending = pendingChangesets();
if (pending.length > 0) {
  fail(`${pending.length} changesets are in no version yet; run npm run release:version, commit, and publish that`);
}

const known = await Promise.all(set.map(async (each) => ({ ...each, ...(await onRegistry(each.name)) })));
const isThere = ({ version, versions }) => version in versions;
const missing = known.filter((each) => !isThere(each));
// npm makes a first version `latest` at once: while the set was never whole, that does not say that it was released.
const wasWhole = known.every(({ versions }) => Object.keys(versions).length > 0);
const isFirst = ({ versions }) => Object.keys(versions).length === 1;
// What else `latest` shows came from an earlier release, and may have been built from other sources or by older tools.
const isReleased = (each) => each.tags.latest === each.version && (wasWhole || !isFirst(each));
const unreleased = known.filter((each) => !isReleased(each));

const tarballs = packed === undefined ? pack(unreleased) : readTarballs(packed, unreleased);
for (const each of unreleased.filter(isThere)) checkSame(each, each.versions[each.version], tarballs);
console.log(missing.length > 0 ? `release: to publish under ${tag}: ${told(missing)}` : "release: nothing to publish");
if (!isDryRun) {
  if (isStaged) stage();
  else {
    for (const each of missing) publish(each);
    await checkWhole();
    console.log("release: the whole set is on the registry; run npm run release:promote to move latest");
  }
}

/** Goes on after a refusal: what an earlier run staged is refused, and a trusted publisher cannot ask what that was. */
function stage() {
  const refused = missing.filter(({ name }) => !npm(["stage", "publish", tarballs.get(name).file, ...npmFlags]));
  if (refused.length > 0) {
    fail(`could not be staged: ${told(refused)}. See npm stage list for those that were staged before`);
  }
  if (missing.length > 0) {
    console.log("release: staged; approve each with npm stage approve, then run npm run release:promote");
  }
}

function publish({ name, version }) {
  if (!npm(["publish", tarballs.get(name).file, ...npmFlags])) {
    fail(
      `${name}@${version} could not be published; latest has not moved. Run this again to go on with what is missing`,
    );
  }
}

/** A registry may take a while to show what it has taken. */
async function checkWhole() {
  let absent = unreleased;
  for (let look = 0; look < looks && absent.length > 0; look++) {
    if (look > 0) await sleep(pauseMs);
    const found = await Promise.all(absent.map(async (each) => (await onRegistry(each.name)).versions[each.version]));
    for (const [index, integrity] of found.entries()) if (integrity) checkSame(absent[index], integrity, tarballs);
    absent = absent.filter((_, index) => !found[index]);
  }
  if (absent.length > 0) fail(`the registry does not show ${told(absent)}; latest has not moved. Run this again`);
}
