// Moves `latest` to the versions of this checkout, once the registry has all of them; else moves nothing. Run again after a failure:
// it goes on with what is left. For a maintainer: npm asks for a second factor, and trusted publishing may not move tags.
//   node scripts/release/promote.mjs [--dry-run]
import { compareVersions, fail, npm, onRegistry, releasedSet } from "./packages.mjs";

const set = await Promise.all(releasedSet().map(async (each) => ({ ...each, ...(await onRegistry(each.name)) })));

const absent = set.filter(({ version, versions }) => !(version in versions));
if (absent.length > 0) {
  const told = absent.map(({ name, version }) => `${name}@${version}`).join(", ");
  fail(`latest has not moved: the registry does not have ${told}. Run publish.mjs, and approve what is staged`);
}
const newer = set.find(({ version, tags }) => tags.latest && compareVersions(tags.latest, version) > 0);
if (newer) {
  fail(`latest has not moved: ${newer.name} is at ${newer.tags.latest}, and this checkout is older (${newer.version})`);
}

const moves = set.filter(({ version, tags }) => tags.latest !== version);
console.log(`release: to move: ${moves.map(({ name, version }) => `${name}@${version}`).join(", ") || "nothing"}`);
if (!process.argv.includes("--dry-run")) {
  // Those that others need come first, so that every state on the way is one that can be installed.
  for (const { name, version } of moves) {
    if (!npm(["dist-tag", "add", `${name}@${version}`, "latest"])) {
      fail(`latest of ${name} could not be moved. Run this again to go on`);
    }
  }
  console.log("release: latest shows the whole set");
}
