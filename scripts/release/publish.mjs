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
const staged = process.argv.includes("--staged");
if (!/^[a-z][a-z-]*$/.test(tag ?? "")) fail(`--tag takes a word such as next, not ${JSON.stringify(tag)}`);
if (tag === "latest")
  fail("--tag latest: nothing is published as latest; publish under another tag, then run promote.mjs");

const set = releasedSet();
const pending = readdirSync(join(root, ".changeset")).filter((file) => file.endsWith(".md") && file !== "README.md");
if (pending.length > 0) {
  fail(`${pending.length} changesets are in no version yet; run npm run release:version, commit, and publish that`);
}

const folder = mkdtempSync(join(tmpdir(), "toolcrib-release-"));
try {
  const tarballs = packAll(folder);
  const missing = [];
  for (const each of set) {
    const { tags, versions } = await onRegistry(each.name);
    if (!(each.version in versions)) missing.push(each);
    else if (tags.latest !== each.version) checkSame(each, versions[each.version], tarballs);
  }
  const told = missing.map(({ name, version }) => `${name}@${version}`).join(", ");
  console.log(missing.length > 0 ? `release: to publish under ${tag}: ${told}` : "release: nothing to publish");
  if (!process.argv.includes("--dry-run")) {
    for (const each of missing) publish(each, tarballs.get(each.name).file);
    if (staged && missing.length > 0) {
      console.log("release: staged; approve each with npm stage approve, then run promote.mjs");
    } else {
      await checkWhole(tarballs);
      console.log("release: the whole set is on the registry; run promote.mjs to move latest");
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function packAll(destination) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "scripts/packAll.mjs"), destination], {
    encoding: "utf8",
  });
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

function publish({ name, version }, file) {
  const command = staged ? ["stage", "publish"] : ["publish"];
  if (!npm([...command, file, "--tag", tag, "--access", "public", "--loglevel", "warn"])) {
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
async function checkWhole(tarballs) {
  let absent = [];
  for (let look = 0; look < looks; look++) {
    if (look > 0) await sleep(pauseMs);
    absent = [];
    for (const each of set) {
      const { tags, versions } = await onRegistry(each.name);
      if (!(each.version in versions)) absent.push(`${each.name}@${each.version}`);
      else if (tags.latest !== each.version) checkSame(each, versions[each.version], tarballs);
    }
    if (absent.length === 0) return;
  }
  fail(`the registry does not show ${absent.join(", ")}; latest has not moved. Run this again`);
}
