// Runs the tests against each mutant of mutants.json in turn, and fails if one lives: `npm run test:mutants`, or `-- FROM TO` for some of
// them. Asks the tests of the mutant's package first, then those of all, then `*.process.test.ts`. A test that is red without a mutant ends
// it. Changes sources while it runs: use a checkout of its own.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runTests } from "./runTests.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { mutants } = JSON.parse(readFileSync(new URL("mutants.json", import.meta.url), "utf8"));
const [from = 0, to = mutants.length] = process.argv.slice(2).map(Number);
const count = { "npm test": 0, ".ci/run": 0, lives: 0, gone: 0 };
const asked = mutants.slice(from, to);
const green = new Set();
for (const mutant of asked) {
  const { where, killedBy = "" } = kill(mutant);
  count[where] += 1;
  console.log(`${where.padEnd(8)} ${mutant.file}:${mutant.line} ${mutant.after.trim()} ${killedBy && `(${killedBy})`}`);
}
console.log(JSON.stringify(count));
process.exitCode = count.lives > 0 || count.gone === asked.length ? 1 : 0;

function kill(mutant) {
  const own = runTests(root, mutant);
  if (own.gone) return { where: "gone" };
  if (!green.has(mutant.file)) {
    const before = runTests(root, { ...mutant, after: mutant.before });
    if (before.killedBy) throw new Error(`red without a mutant: ${before.killedBy}`);
    green.add(mutant.file);
  }
  if (own.killedBy) return { where: "npm test", ...own };
  const any = runTests(root, mutant, []);
  if (any.killedBy) return { where: "npm test", ...any };
  const slow = runTests(root, mutant, ["--config", "testing/process.vitest.config.ts"]);
  return slow.killedBy ? { where: ".ci/run", ...slow } : { where: "lives" };
}
