// Every commit since this check came: a subject of at most 72 characters without a semicolon, and a changeset beside each change to a
// published package's sources, or a line `Changeset: none, WHY` in its message (moves, comments).
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const longestSubject = 72;
const root = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), "..");
const git = (...args) => spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 }).stdout ?? "";

const first = git("log", "--diff-filter=A", "--format=%H", "--", "scripts/checkCommits.mjs").trim().split("\n").pop();
// Outside a clone, and in one that is too shallow, there is nothing to check.
const log = first
  ? git("log", "--no-merges", "--format=%x00%s%x01%B%x01", "--name-only", "--no-renames", `${first}..HEAD`)
  : "";
const problems = [];

for (const record of log.split("\0").slice(1)) {
  const [subject, message, names] = record.split("\x01");
  const shown = JSON.stringify(subject);
  if (subject.length > longestSubject)
    problems.push(`${shown}: a subject of ${subject.length} characters, at most ${longestSubject}`);
  if (subject.includes(";")) problems.push(`${shown}: a subject with a semicolon: say one thing, the rest in the body`);
  const files = names.trim().split("\n");
  const source = files.find((file) => /^packages\/[^/]+\/src\/.*(?<!\.test(?:-d)?)\.ts$/.test(file));
  const hasChangeset =
    files.some((file) => /^\.changeset\/.+\.md$/.test(file)) || /^Changeset: none, \S/m.test(message);
  if (source && !hasChangeset) {
    problems.push(`${shown} changes ${source}: add a changeset, or the line "Changeset: none, WHY" to the message`);
  }
}

for (const problem of problems) console.error(`commits: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
