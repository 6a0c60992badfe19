import { visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui/dist/utils.js";

const colourCode = /\u001b\[[0-9;]*m/g;
/** One word, or words behind a space or an arrow, with a wide gap behind: what follows stands in a column. */
const label = /^(?:[ →] *\S+(?: \S+)*|\S+) {2,}(?=\S)/;

/** Wraps a row between words. Further rows begin below its text: behind its label or indentation, and `more` cells to the right. */
export function hangingRows(row: string, columns: number, more = 0): string[] {
  if (visibleWidth(row) <= columns) return [row];
  const plain = row.replace(colourCode, "");
  const widths = [label, /^ +/].map((start) => start.exec(plain)?.[0].length ?? 0);
  const indent = widths.find((width) => width > 0 && width + more < columns / 2) ?? 0;
  const head = new RegExp(`^(?:(?:${colourCode.source})*[^\\u001b]){${indent}}`).exec(row)?.[0] ?? "";
  const codes = (head.match(colourCode) ?? []).join("");
  const [first = "", ...others] = wrapTextWithAnsi(codes + row.slice(head.length), columns - indent - more);
  return [head + first, ...others.map((other) => " ".repeat(indent + more) + other)];
}
