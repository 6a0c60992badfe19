// Draws mutants of the sources by a seed, and keeps those that the tests of their package kill: `draw.mjs SEED COUNT FILE [RANGE]`, in a
// clean checkout. FILE gets a list of { file, line, before, after, killedBy }, written after each mutant, and is continued where it ends.
// With a range of commits, only sources beside tests that changed in it.
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runTests } from "./runTests.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const [seed, count, file, range] = [Number(process.argv[2]), Number(process.argv[3]), process.argv[4], process.argv[5]];
const changed =
  range &&
  execFileSync("git", ["diff", "--no-renames", "--name-only", range, "--", "*.test.ts"], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .map((name) => name.replace(/(?:\.process)?\.test\.ts$/, ".ts"));
const packages = ["core", "kit", "tools-fs", "tools-search", "tools-bash", "policy", "agent", "mcp"];

/** Small faults as people make them: each takes a line to another, or to itself where it does not apply. */
const faults = [
  (line) => line.replace("===", "!=="),
  (line) => line.replace("!==", "==="),
  (line) => line.replace(/ < (?!.*=>)/, " <= "),
  (line) => line.replace(/ > (?!.*=>)/, " >= "),
  (line) => line.replace(" && ", " || "),
  (line) => line.replace(" || ", " && "),
  (line) => line.replace(" ?? ", " && "),
  (line) => line.replace(/\btrue\b/, "false"),
  (line) => line.replace(/\bfalse\b/, "true"),
  (line) => line.replace(/\b(\d+)\b/, (_, digits) => String(Number(digits) + 1)),
  (line) => line.replace(" + 1", ""),
  (line) => line.replace(" - 1", ""),
  (line) => line.replace(/\bif \((?!.*\)$).*\) (return|throw|continue|break)\b/, "if (false) $1"),
  (line) => line.replace(/\bif \(!/, "if ("),
  (line) => line.replace(/^(\s+)(?:await )?[\w.?]+\(.*\);$/, "$1;"),
  (line) => line.replace(/\?\.(\w)/, ".$1"),
  (line) => line.replace(/"([^"\\]{2,})"/, '""'),
];

/** Mulberry32. */
let state = seed;
function random(below) {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % below;
}

const lines = packages.flatMap((name) =>
  globSync(`packages/${name}/src/**/*.ts`, { cwd: root })
    .filter((path) => !/\.test(-d)?\.ts$|\/fixtures\/|\/testing\//.test(path))
    .filter((path) => changed?.includes(path) ?? true)
    .sort()
    .flatMap((path) =>
      readFileSync(join(root, path), "utf8")
        .split("\n")
        .flatMap((text, index) =>
          /^\s*(?:import|export \{|export type|\/\/|\/?\*|$)/.test(text) ? [] : [{ file: path, line: index + 1, text }],
        ),
    ),
);
const drawn = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { tried: 0, mutants: [] };
let tried = 0;
while (drawn.mutants.length < count) {
  const at = lines[random(lines.length)];
  const able = faults.map((fault) => fault(at.text)).filter((after) => after !== at.text);
  if (able.length === 0) continue;
  const after = able[random(able.length)];
  tried += 1;
  if (tried <= drawn.tried) continue;
  const { killedBy } = runTests(root, { ...at, before: at.text, after });
  drawn.tried = tried;
  if (killedBy !== undefined) drawn.mutants.push({ file: at.file, line: at.line, before: at.text, after, killedBy });
  console.log(`${tried} ${killedBy === undefined ? "lives" : "killed"} ${at.file}:${at.line} ${after.trim()}`);
  writeFileSync(file, `${JSON.stringify(drawn, undefined, 2)}\n`);
}
