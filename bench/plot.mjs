// The plot that the README shows: bars from the line of 1, to the left where toolcrib is faster, to the right where it is slower.

const width = 420;
const axis = { left: 166, right: 396, least: 0.01, most: 10 };
const rowHeight = 22;

/** Its own background, as the page around it may have another scheme than the system. */
const style = `
svg { font: 13px system-ui, sans-serif }
.back { fill: #fff } text { fill: #1f2328 } .quiet { fill: #59636e } .grid { stroke: #d1d9e0 } .one { stroke: #59636e }
.faster { fill: #0969da } .slower { fill: #bc4c00 } .title { font-size: 14.5px } .title, .group { font-weight: 600 }
@media (prefers-color-scheme: dark) {
.back { fill: #0d1117 } text { fill: #f0f6fc } .quiet { fill: #9198a1 } .grid { stroke: #3d444d } .one { stroke: #9198a1 }
.faster { fill: #58a6ff } .slower { fill: #f0883e }
}`;

/** The words of rows that would not fit. */
const shorter = [
  ["first search of a process", "first search"],
  ["a word on every tenth line", "common"],
  ["other literals", "literal"],
  ["first 100 of a common word", "first 100 matches"],
];

/**
 * An SVG of the searches among `rows`, each with a name and a ratio. `versions` maps what a row is compared with ("rg") to its name with its version;
 * `trees` maps a corpus to what it is.
 */
export function plot(rows, { versions, trees }) {
  const groups = groupRows(rows, versions, trees);
  const parts = [];
  let y = 66;
  for (const { title, bars } of groups) {
    parts.push(`<text class="group" x="8" y="${y + 22}">${escapeXml(title)}</text>`);
    y += 30;
    parts.push(grid(y, y + bars.length * rowHeight), ...bars.map((one, at) => bar(one, y + at * rowHeight)));
    y += bars.length * rowHeight + 6;
  }
  const said = "toolcrib’s search: its time divided by the other’s";
  const head = [
    `<text class="title" x="8" y="22">${said}</text>`,
    `<text class="faster" x="${x(1) - 8}" y="46" text-anchor="end">◀ faster</text>`,
    `<text class="slower" x="${x(1) + 8}" y="46">slower ▶</text>`,
    ...[0.01, 0.1, 1, 10].map(
      (mark) => `<text class="quiet" x="${x(mark)}" y="64" text-anchor="middle">${mark}</text>`,
    ),
  ];
  const height = y + 6;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img"><title>${said}, below 1 faster</title><style>${style}</style><rect class="back" width="100%" height="100%"/>${head.join("")}${parts.join("")}</svg>\n`;
}

/** One group for each peer and tree, peers and trees in the order of the rows. */
function groupRows(rows, versions, trees) {
  const groups = new Map();
  for (const { name, ratio } of rows) {
    const [, tool, tree, what = "", peer] = /^(search_\w+), (\w+),(?: (.+),)? to (.+)$/.exec(name) ?? [];
    if (!ratio || !tool) continue;
    const other = peer.startsWith("rg") ? "rg" : peer;
    const key = other === "rg" ? `rg ${tree}` : other;
    const title = other === "rg" ? `${versions.rg}, ${tree} tree: ${trees[tree]}` : (versions[other] ?? other);
    const label = tool === "search_files" ? "files by glob" : other === "rg" ? what : `${tree} tree, ${what}`;
    if (!groups.has(key)) groups.set(key, { title, bars: [] });
    groups.get(key).bars.push({ label: shorten(label), ratio });
  }
  return [...groups.values()];
}

function shorten(label) {
  return shorter.reduce((text, [long, short]) => text.replace(long, short), label);
}

function grid(top, bottom) {
  return [0.01, 0.1, 1, 10]
    .map(
      (mark) =>
        `<line class="${mark === 1 ? "one" : "grid"}" x1="${x(mark)}" x2="${x(mark)}" y1="${top}" y2="${bottom}"/>`,
    )
    .join("");
}

/** The figure stands on the other side of the line, where it meets neither bar nor label. */
function bar({ label, ratio }, top) {
  const isFaster = ratio <= 1;
  const [from, to] = isFaster ? [x(ratio), x(1)] : [x(1), x(ratio)];
  const text = top + 15;
  return (
    `<text x="${axis.left - 8}" y="${text}" text-anchor="end">${escapeXml(label)}</text>` +
    `<rect class="${isFaster ? "faster" : "slower"}" x="${from}" y="${top + 4}" width="${Math.max(to - from, 1).toFixed(1)}" height="14"/>` +
    `<text x="${isFaster ? x(1) + 6 : x(1) - 6}" y="${text}"${isFaster ? "" : ' text-anchor="end"'}>${Number(ratio.toPrecision(2))}</text>`
  );
}

function x(ratio) {
  const { left, right, least, most } = axis;
  const share = Math.log(Math.min(Math.max(ratio, least), most) / least) / Math.log(most / least);
  return Math.round(left + share * (right - left));
}

function escapeXml(text) {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
