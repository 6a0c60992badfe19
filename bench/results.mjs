// Writes RESULTS.md and the plot that the README shows.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { treeNames } from "./corpora.mjs";
import { peers, ripgrep as ripgrepProgram } from "./peers.mjs";
import { plot } from "./plot.mjs";
import { remarksOf } from "./remarks.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Writes the rows of a run. Those that RESULTS.md has of other cases stay, with their day, unless the run was whole. */
export function writeResults(rows, isWhole) {
  const day = new Date().toISOString().slice(0, 10);
  const fresh = new Map(
    rows.map((row) => [
      row.name,
      { ...row, measured: figure(row), goal: row.goal === undefined ? "" : short(row.goal), day },
    ]),
  );
  const former = isWhole ? [] : readRows();
  const all = new Map([...former.map((row) => [row.name, row]), ...fresh]);
  const ripgrep = version(ripgrepProgram() ?? "rg");
  const remarks = remarksOf([...all.values()]);
  const lines = [
    "# Benchmark results",
    "",
    `Node ${process.version}, Linux ${release()}, ${cpus().length} cores (${cpus()[0].model}), ${Math.round(totalmem() / 2 ** 30)} GB; ${ripgrep}.`,
    "Made by `npm run bench -- --large --write`. A ratio is candidate to baseline in the same round: median (min to max); then the median",
    "times of both. Below 1 the candidate is faster. A row whose result counts differ is void. ripgrep reads no .gitignore above a tree",
    "(`--no-ignore-parent`).",
    "",
    "| what | measured | goal | | day |",
    "| --- | --- | --- | --- | --- |",
    ...[...all.values()].map((row) => `| ${row.name} | ${row.measured} | ${row.goal} | ${row.verdict} | ${row.day} |`),
    "",
    ...(remarks.length > 0 ? ["## Missed, and why", "", ...remarks, ""] : []),
  ];
  writeFileSync(here("RESULTS.md"), lines.join("\n"));
  writePlot();
}

/** Returns the rows of RESULTS.md. */
function readRows() {
  const text = readFileSync(here("RESULTS.md"), "utf8");
  const row = /^\| (.+?) \| (.+?) \| (.*?) ?\| (.*?) ?\| (\d.*?) \|$/gm;
  return [...text.matchAll(row)].map(([, name, measured, goal, verdict, day]) => ({
    name,
    measured,
    goal,
    verdict,
    day,
  }));
}

/** Returns what RESULTS.md says of each row. */
export function formerFigures() {
  const text = readFileSync(here("RESULTS.md"), "utf8");
  return new Map([...text.matchAll(/^\| (.+?) \| (.+?) \|/gm)].map(([, name, figure]) => [name, figure]));
}

/** Draws the plot of what RESULTS.md says. */
export function writePlot() {
  const text = readFileSync(here("RESULTS.md"), "utf8");
  const rows = readRatios(text);
  const [ripgrep = "ripgrep"] = /ripgrep [\d.]+\d/.exec(text) ?? [];
  writeFileSync(here("search.svg"), plot(rows, { versions: { ...peerVersions(), rg: ripgrep }, trees: treeNames }));
}

/** The rows of RESULTS.md that compare: `{ name, ratio, least, most, times }`; `times` holds the milliseconds of both sides, where they were written. */
export function readRatios(text) {
  const row = /^\| (.+?) \| ([\d.]+) \(([\d.]+) to ([\d.]+)\)(?:; ([\d.]+) ms to ([\d.]+) ms)? \|/gm;
  return [...text.matchAll(row)].map(([, name, ratio, least, most, ours, theirs]) => ({
    name,
    ratio: Number(ratio),
    least,
    most,
    times: ours && { ours: Number(ours), theirs: Number(theirs) },
  }));
}

function peerVersions() {
  return {
    "gemini-cli-core fallback": `gemini-cli-core ${peers["gemini-cli-core"]["@google/gemini-cli-core"]}, without ripgrep`,
    "just-bash grep": `just-bash ${peers["just-bash"]["just-bash"]}, grep`,
  };
}

function version(program) {
  try {
    return execFileSync(program, ["--version"], { encoding: "utf8" }).split("\n")[0];
  } catch {
    return `no ${program}`;
  }
}

function figure(row) {
  if (row.missing) return `not measured: ${row.missing.slice(0, 160)}`;
  const { ratio, value, unit, msA, msB } = row;
  if (!ratio) return `${short(value)} ${unit}`;
  const times = msA && msB ? `; ${short(msA.median)} ms to ${short(msB.median)} ms` : "";
  return `${short(ratio.median)} (${short(ratio.min)} to ${short(ratio.max)})${times}`;
}

function short(value) {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}
