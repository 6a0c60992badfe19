#!/usr/bin/env bash
# 2026-11-30, turndown@7.2.5 with turndown-plugin-gfm@1.0.2, node-html-markdown@2.0.0
# Both write a raised number as if it stood on the line (10<sup>6</sup> becomes 106), and a cell that spans two rows leaves its place empty for
# neither: the next row moves one column to the left, so a value stands below the heading of another. A head that spans columns moves likewise.
# Hurt: whoever gives pages of prices, units or results to a model: the text reads well and the numbers are others.
# Seen: "106" twice, and "2" below "size" instead of "price" twice.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm pkg set type=module >/dev/null
npm install --no-audit --no-fund --ignore-scripts --loglevel=error \
  turndown@7.2.5 turndown-plugin-gfm@1.0.2 node-html-markdown@2.0.0 >/dev/null
cat >main.mjs <<'JS'
import { NodeHtmlMarkdown } from "node-html-markdown";
import TurndownService from "turndown";
import { gfm } from "turndown-plugin-gfm";
const service = new TurndownService();
service.use(gfm);
const converters = { turndown: (html) => service.turndown(html), nhm: (html) => NodeHtmlMarkdown.translate(html) };
const rows = `<tr><td rowspan="2">small</td><td>1</td></tr><tr><td>2</td></tr>`;
const table = `<table><thead><tr><th>size</th><th>price</th></tr></thead><tbody>${rows}</tbody></table>`;
for (const [name, convert] of Object.entries(converters)) {
  const last = convert(table).trim().split("\n").at(-1);
  const cells = last.split("|").map((cell) => cell.trim());
  console.log(`${name}: ${convert("<p>10<sup>6</sup> rows</p>").trim()}; 2 is below ${cells[1] === "2" ? "size" : "price"}`);
}
JS
output=$(node main.mjs)
echo "$output"
[ "$output" = "$(printf '%s\n' 'turndown: 106 rows; 2 is below size' 'nhm: 106 rows; 2 is below size')" ]
