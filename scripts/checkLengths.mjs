// No source file above 300 lines, no function above 80; a function that is one exhaustive switch may be longer.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const longestFile = 300;
const longestFunction = 80;
const root = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), "..");
const problems = [];

for (const name of readdirSync(join(root, "packages"))) {
  for (const file of sources(join(root, "packages", name, "src"))) check(file);
}

function check(file) {
  const at = relative(root, file);
  const lines = readFileSync(file, "utf8").split("\n");
  if (lines.length - 1 > longestFile) problems.push(`${at}: ${lines.length - 1} lines, at most ${longestFile}`);
  // Formatted code closes a function on the indentation of the line that opens it.
  lines.forEach((line, start) => {
    if (!/(?:\bfunction\b.*|=>|^\s+(?:async |static |get |set |private |\*|#)*[\w#]+\(.*\).*) \{$/.test(line)) return;
    if (/^\s*(?:if|for|while|switch|\} else|catch|describe|return switch)\b/.test(line)) return;
    const indent = /^\s*/.exec(line)[0];
    const length = lines.slice(start + 1).findIndex((next) => next.startsWith(`${indent}}`)) + 2;
    const body = lines.slice(start + 1, start + length - 1);
    const isSwitch = /^\s*(?:const .*|)?\s*switch\b/.test(body.find((next) => !/^\s*const\b/.test(next)) ?? "");
    if (length > longestFunction && !isSwitch) {
      problems.push(`${at}:${start + 1}: a function of ${length} lines, at most ${longestFunction}`);
    }
  });
}

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return entry.name.endsWith(".ts") && !/\.test(-d)?\.ts$/.test(entry.name) ? [path] : [];
  });
}

for (const problem of problems) console.error(`lengths: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
