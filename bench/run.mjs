// npm run bench [-- NAME …] [--large] [--rounds N] [--write] [--quick] [--plot]
// Each row of the goals: candidate and baseline in turn, ratio per round. Times are judged by ratios alone: an absolute one is shown.
// --write puts the rows of a run into RESULTS.md: of a full run all of it. --quick takes two minutes, for a look before and after a change.
// --plot measures nothing and draws the plot of RESULTS.md anew.
import { availableParallelism, cpus, totalmem } from "node:os";
import { files, shell } from "./cases/files.mjs";
import { firstRequest } from "./cases/firstRequest.mjs";
import { size, startup, tokens } from "./cases/footprint.mjs";
import { growth } from "./cases/growth.mjs";
import { http } from "./cases/http.mjs";
import { loop, registry, repeats } from "./cases/loop.mjs";
import { page } from "./cases/page.mjs";
import { policy } from "./cases/policy.mjs";
import { programs } from "./cases/programs.mjs";
import { remotes } from "./cases/remotes.mjs";
import { firstSearch, search, searchFiles, searchPeers } from "./cases/search.mjs";
import { searchPhases } from "./cases/searchPhases.mjs";
import { searchTakers } from "./cases/searchTakers.mjs";
import { served } from "./cases/served.mjs";
import { skills } from "./cases/skills.mjs";
import { web } from "./cases/web.mjs";
import { endBy } from "./pairs.mjs";
import { ripgrep } from "./peers.mjs";
import { formerFigures, writePlot, writeResults } from "./results.mjs";

const cases = {
  "first-search": firstSearch,
  search,
  "search-files": searchFiles,
  "search-takers": searchTakers,
  "search-phases": searchPhases,
  "search-peers": searchPeers,
  loop,
  repeats,
  registry,
  page,
  policy,
  programs,
  skills,
  web,
  remotes,
  http,
  served,
  growth,
  files,
  shell,
  startup,
  "first-request": firstRequest,
  size,
  tokens,
};
const words = process.argv.slice(2);
const option = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
const quick = words.includes("--quick");
const rounds = Number(option("--rounds") ?? (quick ? 5 : 7));
const corpora = quick || words.includes("--large") ? ["small", "medium", "large"] : ["small", "medium"];
/** The cases of a short run, which need no installed peer. */
const quickCases = ["search", "search-files", "registry", "shell", "startup"];
const asked = words.filter((word) => word in cases);
const unknown = words.filter((word, at) => !word.startsWith("--") && !(word in cases) && words[at - 1] !== "--rounds");
if (unknown.length > 0 || !(rounds > 0)) {
  console.error(
    `bench: unknown: ${unknown.join(" ") || `--rounds ${rounds}`}; names are ${Object.keys(cases).join(", ")}`,
  );
  process.exit(2);
}

if (words.includes("--plot")) {
  writePlot();
  process.exit(0);
}
const rows = [];
const former = formerFigures();
console.log(
  `Node ${process.version}, ${availableParallelism()} x ${cpus()[0].model}, ${Math.round(totalmem() / 2 ** 30)} GB`,
);
if (quick) endBy(performance.now() + 90_000);
for (const name of asked.length > 0 ? asked : quick ? quickCases : Object.keys(cases)) {
  if (name.startsWith("search") && ripgrep() === undefined) {
    console.log(`${name}: left out, npm has no ripgrep for this system`);
    continue;
  }
  await cases[name](report, { corpora, rounds, quick });
}
if (words.includes("--write")) writeResults(rows, asked.length === 0);
process.exit(0);

function report(row) {
  const counted = row.void || (row.sameCount && row.countA !== row.countB);
  const measured = row.ratio?.median ?? row.value;
  const verdict = row.missing
    ? "not measured"
    : counted
      ? "VOID"
      : row.goal === undefined || /^[mµ]s( a step)?$/.test(row.unit ?? "")
        ? ""
        : measured <= row.goal
          ? "met"
          : "missed";
  rows.push({ ...row, verdict });
  const figure = row.missing
    ? row.missing
    : row.ratio
      ? `x${round(row.ratio.median)} (${round(row.ratio.min)} to ${round(row.ratio.max)})`
      : `${round(row.value)} ${row.unit}`;
  const counts = counted ? ` counts ${row.countA} and ${row.countB}` : "";
  // Sizes and counts are the same on every machine; times and ratios are not.
  const before = former.get(row.name) ?? "no such row";
  const was = ["packages", "MB", "tokens"].includes(row.unit) ? ` (RESULTS.md: ${before})` : "";
  const goal = row.goal === undefined ? "" : ` goal ${round(row.goal)} ${verdict}`;
  console.log(`${row.name}: ${figure}${was}${goal}${counts}${row.note ? ` [${row.note}]` : ""}`);
}

function round(value) {
  return value >= 100 ? String(Math.round(value)) : String(Number(Number(value).toPrecision(3)));
}
