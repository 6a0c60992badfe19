import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.mjs";

/** Rows of bench/RESULTS.md whose names hold one of `words` (between `|`) and compare with another program: bars of a logarithmic scale, 1 is equal. */
export function benchmarkChart(words) {
  const rows = [
    ...readFileSync(join(root, "bench/RESULTS.md"), "utf8").matchAll(/^\| (.+?) \| ([\d.]+) \((.+?) to (.+?)\) \|/gm),
  ]
    .map(([, name, median, least, most]) => ({ name, median: Number(median), least, most }))
    .filter(({ name }) => words.split(" | ").some((word) => name.includes(word)));
  if (rows.length === 0) throw new Error(`docs: no row of bench/RESULTS.md holds "${words}"`);
  const decades = Math.ceil(Math.max(...rows.map(({ median }) => Math.abs(Math.log10(median)))));
  const bars = rows.map((row) => bar(row, decades));
  return `<figure class="bars not-content"><figcaption><span>← faster</span><span>equal</span><span>slower →</span></figcaption><ul>\n${bars.join("\n")}\n</ul></figure>`;
}

/** Rows of bench/RESULTS.md whose names hold one of `words` (between `|`), as a table. */
export function measuredTable(words) {
  const rows = [...readFileSync(join(root, "bench/RESULTS.md"), "utf8").matchAll(/^\| (.+?) \| (\d.*?) \|/gm)].filter(
    ([, name]) => words.split(" | ").some((word) => name.includes(word)),
  );
  if (rows.length === 0) throw new Error(`docs: no row of bench/RESULTS.md holds "${words}"`);
  return ["| what | measured |", "| --- | --- |", ...rows.map(([, name, value]) => `| ${name} | ${value} |`)].join(
    "\n",
  );
}

/** From the line of 1 to the left where toolcrib is faster, to the right where it is slower. */
function bar({ name, median, least, most }, decades) {
  const share = (Math.log10(median) / decades) * 50;
  const [from, to] = share < 0 ? [50 + share, 50] : [50, 50 + share];
  const kind = share < 0 ? "faster" : "slower";
  return (
    `<li><span class="name">${name}</span><span class="figure">${median} <small>(${least} to ${most})</small></span>` +
    `<span class="track"><span class="${kind}" style="left:${from.toFixed(1)}%;width:${(to - from).toFixed(1)}%"></span></span></li>`
  );
}
