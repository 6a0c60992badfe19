import { readFileSync } from "node:fs";
import { join } from "node:path";
import { peers } from "../../../bench/peers.mjs";
import { readRatios } from "../../../bench/results.mjs";
import { root } from "./sources.mjs";

const readResults = () => readFileSync(join(root, "bench/RESULTS.md"), "utf8");

/**
 * Rows of bench/RESULTS.md that compare with another program, written `LABEL = NAME OF THE ROW` between `|`: two bars each, with the
 * milliseconds of both. The longer bar is as wide as the page. A row without times shows its ratio.
 */
export function benchmarkChart(words) {
  const items = compared(words).map(({ label, row, peer }) => item(label, row, peer));
  return `<figure class="bars not-content"><ul>\n${items.join("\n")}\n</ul></figure>`;
}

/** The same rows as a table. */
export function benchmarkTable(words) {
  const rows = compared(words).map(({ label, row: { ratio, least, most, times }, peer }) => {
    const [ours, theirs] = times ? [`${times.ours} ms`, `${times.theirs} ms`] : ["", ""];
    return `| ${label} | ${ours} | ${peer} | ${theirs} | ${ratio} (${least} to ${most}) |`;
  });
  return ["| what | toolcrib | compared with | takes | ratio |", "| --- | --- | --- | --- | --- |", ...rows].join("\n");
}

function compared(words) {
  const text = readResults();
  const rows = readRatios(text);
  return words.split(" | ").map((entry) => {
    const [label, name] = entry.split(" = ");
    const row = rows.find((one) => one.name === name);
    if (row === undefined) throw new Error(`docs: bench/RESULTS.md compares no "${name}"`);
    return { label, row, peer: peerName(name.slice(name.lastIndexOf(" to ") + 4), text) };
  });
}

/** Rows of bench/RESULTS.md whose names hold one of `words` (between `|`), as a table. */
export function measuredTable(words) {
  const rows = [...readResults().matchAll(/^\| (.+?) \| (\d.*?) \|/gm)].filter(([, name]) =>
    words.split(" | ").some((word) => name.includes(word)),
  );
  if (rows.length === 0) throw new Error(`docs: no row of bench/RESULTS.md holds "${words}"`);
  return ["| what | measured |", "| --- | --- |", ...rows.map(([, name, value]) => `| ${name} | ${value} |`)].join(
    "\n",
  );
}

/** The name of another program with its version, as far as it is known. */
function peerName(peer, text) {
  if (peer === "rg") return (/ripgrep [\d.]+\d/.exec(text) ?? ["ripgrep"])[0];
  const [word = "", ...rest] = peer.split(" ");
  const [version] = Object.values(peers[word] ?? {});
  return [word, version, ...rest].filter(Boolean).join(" ");
}

function item(label, { ratio, least, most, times }, peer) {
  const { ours, theirs } = times ?? { ours: ratio, theirs: 1 };
  const longer = Math.max(ours, theirs);
  const bar = (kind, name, value, otherwise) =>
    `<span class="name">${name}</span><span class="figure">${times ? `${value} ms` : otherwise}</span>` +
    `<span class="track"><span class="${kind}" style="width:${Math.max((value / longer) * 100, 0.5).toFixed(1)}%"></span></span>`;
  return (
    `<li><strong>${label}</strong><small>ratio ${ratio} (${least} to ${most})</small>` +
    `${bar("ours", "toolcrib", ours, `${ratio} of its time`)}${bar("theirs", peer, theirs, "")}</li>`
  );
}
