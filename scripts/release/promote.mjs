// Moves `latest` to the versions of this checkout, once the registry has all of them with the contents of this build; else moves
// nothing. Run again after a failure: it goes on with what is left. For a maintainer: npm asks for a second factor, and trusted
// publishing may not move tags.
//   node scripts/release/promote.mjs [--dry-run]
import { setTimeout as sleep } from "node:timers/promises";
import { compareVersions } from "./compareVersions.mjs";
import { fail, npm, onRegistry, options, releasedSet, told } from "./packages.mjs";
import { checkSame, pack } from "./tarballs.mjs";

/** The pause between questions to a registry that does not yet show the tags that it accepted, and their number. */
const pauseMs = 2_000;
const looks = 5;

const { "dry-run": isDryRun } = options({ "dry-run": { type: "boolean" } });
const set = await Promise.all(releasedSet().map(withRegistry));

const absent = set.filter(({ version, versions }) => !(version in versions));
if (absent.length > 0)
  fail(`latest has not moved: the registry does not have ${told(absent)}. Run publish.mjs, and approve what is staged`);
for (const each of set) checkNotOlder(each, "latest has not moved");

const moves = set.filter(isLeft);
const tarballs = pack(moves);
for (const each of moves) checkSame(each, each.versions[each.version], tarballs);
console.log(`release: to move: ${told(moves) || "nothing"}`);
if (!isDryRun) {
  // Those that others need come first, so that every state on the way is one that can be installed.
  for (const each of moves) await move(each);
  await checkMoved();
  console.log("release: latest shows the whole set");
}

/** Asks again first: somebody else may have released while npm waited for a second factor. */
async function move({ name, version }) {
  const now = await withRegistry({ name, version });
  checkNotOlder(now, "latest moves no further");
  if (isLeft(now) && !npm(["dist-tag", "add", `${name}@${version}`, "latest"])) {
    fail(`latest of ${name} could not be moved. Run this again to go on`);
  }
}

/** npm moves a tag whatever it shows by then, so what counts is what the registry shows in the end. */
async function checkMoved() {
  let left = set;
  for (let look = 0; look < looks && left.length > 0; look++) {
    if (look > 0) await sleep(pauseMs);
    const shown = await Promise.all(set.map(withRegistry));
    for (const each of shown) checkNotOlder(each, "another release has moved latest meanwhile");
    left = shown.filter(isLeft);
  }
  if (left.length > 0) fail(`latest does not show ${told(left)}. Let nobody else release, and run this again`);
}

async function withRegistry({ name, version }) {
  return { name, version, ...(await onRegistry(name)) };
}

function isLeft({ version, tags }) {
  return tags.latest !== version;
}

function checkNotOlder({ name, version, tags }, consequence) {
  if (tags.latest && compareVersions(tags.latest, version) > 0) {
    fail(`${consequence}: ${name} is at ${tags.latest}, and this checkout is older (${version})`);
  }
}
