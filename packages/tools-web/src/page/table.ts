// Tables of data. Those that only place things on the page are read as blocks.
import type { Element, Node } from "./htmlTree.ts";
import { inlineText } from "./inline.ts";

const mostColumns = 200;

/** Returns a table as Markdown; undefined for one of a single column, or that holds another, which is no data. */
export function dataTable(table: Element, base: string): string[] | undefined {
  if (table.attribute("role") === "presentation" || elementsIn(table.children, "table", 6).length > 0) return undefined;
  const rows = elementsIn(table.children, "tr", 2).map((row) => cellsOf(row, base));
  const width = Math.max(0, ...rows.map((row) => row.length));
  if (width < 2) return undefined;
  const [head = [], ...others] = rows.map((row) => [...row, ...Array<string>(width - row.length).fill("")]);
  const lines = [head, Array<string>(width).fill("---"), ...others].map((row) => `| ${row.join(" | ")} |`);
  const captions = elementsIn(table.children, "caption", 1).map((caption) => inlineText(caption.children, base));
  return [...captions.filter((caption) => caption !== ""), lines.join("\n")];
}

function cellsOf(row: Element, base: string): string[] {
  const cells: string[] = [];
  for (const cell of row.children) {
    if (typeof cell === "string" || (cell.tag !== "td" && cell.tag !== "th")) continue;
    cells.push(
      inlineText(cell.children, base)
        .replace(/\s*\n\s*/g, " ")
        .replace(/\|/g, "\\|"),
    );
    // A cell over several columns leaves the others empty.
    for (let span = Number(cell.attribute("colspan") ?? 1); span > 1 && cells.length < mostColumns; span--)
      cells.push("");
    if (cells.length >= mostColumns) break;
  }
  return cells;
}

/** Elements of one tag, at most so many levels below, and none within each other. */
function elementsIn(nodes: readonly Node[], tag: string, levels: number): Element[] {
  return nodes.flatMap((node) => {
    if (typeof node === "string") return [];
    if (node.tag === tag) return [node];
    return levels > 1 ? elementsIn(node.children, tag, levels - 1) : [];
  });
}
