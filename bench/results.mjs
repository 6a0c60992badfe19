// Writes RESULTS.md and the plot that the README shows.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { ripgrep as ripgrepProgram } from "./peers.mjs";
import { remarksOf } from "./remarks.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

export function writeResults(rows) {
  const ripgrep = version(ripgrepProgram() ?? "rg");
  const remarks = remarksOf(rows);
  const lines = [
    "# Benchmark results",
    "",
    `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, Linux ${release()}, ${cpus().length} cores (${cpus()[0].model}), ${Math.round(totalmem() / 2 ** 30)} GB; ${ripgrep}.`,
    "Made by `npm run bench -- --large --write`. A ratio is candidate to baseline in the same round: median (min to max). Below 1 the",
    "candidate is faster. A row whose result counts differ is void.",
    "",
    "| what | measured | goal | |",
    "| --- | --- | --- | --- |",
    ...rows.map(
      (row) => `| ${row.name} | ${figure(row)} | ${row.goal === undefined ? "" : short(row.goal)} | ${row.verdict} |`,
    ),
    "",
    ...(remarks.length > 0 ? ["## Missed, and why", "", ...remarks, ""] : []),
  ];
  writeFileSync(here("RESULTS.md"), lines.join("\n"));
  writeFileSync(here("search.svg"), plot(rows));
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
  const { ratio, value, unit } = row;
  return ratio ? `${short(ratio.median)} (${short(ratio.min)} to ${short(ratio.max)})` : `${short(value)} ${unit}`;
}

function short(value) {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}

/** Horizontal bars on a logarithmic scale: the time of search_text to that of spawned ripgrep and of peers. */
function plot(rows) {
  const bars = rows.filter((row) => row.ratio && /^search_(text|files)/.test(row.name));
  const height = 26 * bars.length + 60;
  const x = (ratio) => 300 + 140 * (Math.log10(Math.min(Math.max(ratio, 0.001), 10)) + 3);
  const marks = [0.001, 0.01, 0.1, 1, 10].map(
    (mark) =>
      `<line x1="${x(mark)}" y1="30" x2="${x(mark)}" y2="${height - 20}" stroke="${mark === 1 ? "#c33" : "#ddd"}"/><text x="${x(mark)}" y="22" text-anchor="middle">${mark}</text>`,
  );
  const drawn = bars.map((row, index) => {
    const y = 36 + 26 * index;
    const width = Math.max(2, x(row.ratio.median) - x(0.001));
    return `<text x="292" y="${y + 14}" text-anchor="end">${escapeXml(row.name.replace("search_text, ", "").replace("search_files, ", "files, "))}</text><rect x="${x(0.001)}" y="${y + 2}" width="${width.toFixed(1)}" height="16" fill="#4a7"/><text x="${(x(0.001) + width + 5).toFixed(1)}" y="${y + 14}">${short(row.ratio.median)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="920" height="${height}" font-family="sans-serif" font-size="12"><title>Time of toolcrib's searches to that of ripgrep and of others</title><rect width="100%" height="100%" fill="#fff"/><text x="8" y="22">time of toolcrib to the other (1 = equal)</text>${marks.join("")}${drawn.join("")}</svg>\n`;
}

function escapeXml(text) {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
