// What kind of release a change needs, and what the changesets of the repository say.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const levels = ["patch", "minor", "major"];

/**
 * Below 1.0 a caret range takes patches alone: a minor is where callers must look, and all else is a patch at least. From 1.0 on, as
 * semver says: major for what breaks, minor for what is added, patch for words.
 */
const bumps = {
  breaking: ["minor", "major"],
  addition: ["patch", "minor"],
  wording: ["patch", "patch"],
};
const names = { breaking: "a breaking change", addition: "an addition", wording: "a change of what a model reads" };
const advice = { breaking: " that says what to do", addition: "", wording: "" };

/**
 * A problem in words for each change that no changeset of the package announces.
 * @param {{ name: string, version: string }} package_ as its manifest has it: the last released version
 * @param {readonly { severity: "breaking" | "addition" | "wording", message: string }[]} changes
 * @param {ReadonlyMap<string, string>} changesets the level of each package
 */
export function missingChangesets({ name, version }, changes, changesets) {
  const isStable = Number(version.split(".")[0]) >= 1;
  const announced = levels.indexOf(changesets.get(name) ?? "");
  return changes.flatMap(({ severity, message }) => {
    const bump = bumps[severity][isStable ? 1 : 0];
    if (announced >= levels.indexOf(bump)) return [];
    const when = isStable || severity === "wording" ? "" : " (below 1.0)";
    return [`${name}: ${message} This is ${names[severity]}: add a ${bump} changeset${when}${advice[severity]}.`];
  });
}

/** The packages that a changeset is about: pairs of name and level. */
export function readChangeset(file) {
  const head = /^---\r?\n([\s\S]*?)\r?\n---/.exec(readFileSync(file, "utf8"))?.[1] ?? "";
  const entries = head.matchAll(/^["']?([^"'\s:]+)["']?:\s*["']?(major|minor|patch)\b/gm);
  return [...entries].map(([, name, level]) => [name, level]);
}

/** By package: the highest level of the changesets that wait for the next release. */
export function readChangesets(folder) {
  const found = new Map();
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".md")) : [];
  for (const file of files) {
    for (const [name, level] of readChangeset(join(folder, file))) {
      if (levels.indexOf(level) > levels.indexOf(found.get(name) ?? "")) found.set(name, level);
    }
  }
  return found;
}
