// A page as Markdown: headings, lists, tables, code and links stay; looks go.
import { attributeOf } from "./formula.ts";
import { allText, type Element, holdsBlocks, isText, type Node, parsePage, shownIn } from "./htmlTree.ts";
import { absoluteUrl, escapeLines, escapeText, inlineText, longestTicks, oneLine } from "./inline.ts";

/** Writes a page as Markdown, its title first. Links are absolute, from `url` or the page's own base. */
export function pageToMarkdown(html: string, url: string): string {
  const { title, base = "", body } = parsePage(html);
  const blocks = blocksOf(shownIn(body), URL.canParse(base, url) ? new URL(base, url).href : url);
  const heading = escapeText(title.replace(/\s+/g, " ").trim());
  const isRepeated = blocks.slice(0, 3).some((block) => block.replace(/^#+ /, "") === heading);
  return [...(heading === "" || isRepeated ? [] : [`# ${heading}`]), ...blocks].join("\n\n");
}

/** Returns the blocks of some nodes: paragraphs, headings, lists, each one text without a blank line at its ends. */
function blocksOf(nodes: readonly Node[], base: string, blocks: string[] = []): string[] {
  let start = 0;
  for (const [index, node] of nodes.entries()) {
    if (isText(node) || !holdsBlocks(node)) continue;
    addParagraph(nodes, start, index, base, blocks);
    addBlock(node, base, blocks);
    start = index + 1;
  }
  addParagraph(nodes, start, nodes.length, base, blocks);
  return blocks;
}

/** Adds the nodes from `start` to before `end` as a paragraph, unless it is blank. */
function addParagraph(nodes: readonly Node[], start: number, end: number, base: string, blocks: string[]): void {
  const first = nodes[start];
  if (start === end || first === undefined) return;
  // Most of what stands between blocks.
  if (start + 1 === end && isText(first) && first.value.trim() === "") return;
  const text = inlineText(start === 0 && end === nodes.length ? nodes : nodes.slice(start, end), base);
  if (text !== "") blocks.push(escapeLines(text));
}

function addBlock(element: Element, base: string, blocks: string[]): void {
  const { tagName } = element;
  const children = shownIn(element);
  switch (tagName) {
    case "h1":
    case "h2":
    case "h3":
    case "h4":
    case "h5":
    case "h6": {
      const text = oneLine(inlineText(children, base));
      if (text !== "") blocks.push(`${"#".repeat(Number(tagName[1]))} ${text}`);
      break;
    }
    case "hr":
      blocks.push("---");
      break;
    case "pre":
    case "listing":
    case "xmp":
      addCode(element, blocks);
      break;
    case "blockquote":
      addPrefixed(blocksOf(children, base).join("\n\n"), "> ", "> ", blocks);
      break;
    case "ul":
    case "ol":
    case "menu":
    case "dir":
      addList(element, base, blocks);
      break;
    case "dd":
      addPrefixed(blocksOf(children, base).join("\n\n"), ": ", "  ", blocks);
      break;
    case "table":
      if (!addTable(element, base, blocks)) blocksOf(children, base, blocks);
      break;
    case "a":
      blocksOf(children, base, blocks);
      addLink(attributeOf(element, "href"), base, blocks);
      break;
    case "iframe":
      addLink(attributeOf(element, "src"), base, blocks);
      break;
    default:
      blocksOf(children, base, blocks);
  }
}

function addList(element: Element, base: string, blocks: string[]): void {
  const step = attributeOf(element, "reversed") === undefined ? 1 : -1;
  const first = step === 1 ? 1 : shownIn(element).filter(({ nodeName }) => nodeName === "li").length;
  let number = wholeNumber(attributeOf(element, "start")) ?? first;
  const items: string[] = [];
  const loose: Node[] = [];
  for (const child of shownIn(element)) {
    if (isText(child) || child.tagName !== "li") {
      loose.push(child);
      continue;
    }
    number = wholeNumber(attributeOf(child, "value")) ?? number;
    const marker = element.tagName === "ol" ? `${Math.max(0, number)}. ` : "- ";
    number += step;
    addPrefixed(blocksOf(shownIn(child), base).join("\n"), marker, " ".repeat(marker.length), items);
  }
  if (items.length > 0) blocks.push(items.join("\n"));
  blocksOf(loose, base, blocks);
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*-?\d{1,9}\s*$/.test(text) ? Number(text) : undefined;
}

/** Adds a text whose first line has one prefix and the others another, unless it is empty. */
function addPrefixed(text: string, first: string, others: string, blocks: string[]): void {
  if (text === "") return;
  blocks.push(
    text
      .split("\n")
      .map((line, index) => ((index === 0 ? first : others) + line).trimEnd())
      .join("\n"),
  );
}

function addCode(element: Element, blocks: string[]): void {
  const children = shownIn(element);
  const code = allText(children)
    .replace(/\u00a0/g, " ")
    .replace(/^\n/, "")
    .trimEnd();
  if (code === "") return;
  const inner = children.find((child): child is Element => child.nodeName === "code");
  const classes = `${attributeOf(element, "class") ?? ""} ${(inner && attributeOf(inner, "class")) ?? ""}`;
  const language = /(?:^|\s)(?:language|lang|highlight-source)-([\w+#-]{1,30})/.exec(classes)?.[1] ?? "";
  const fence = "`".repeat(Math.max(2, longestTicks(code)) + 1);
  blocks.push(`${fence}${language}\n${code}\n${fence}`);
}

function addLink(address: string | undefined, base: string, blocks: string[]): void {
  const url = absoluteUrl(address, base);
  if (url !== undefined) blocks.push(`<${url}>`);
}

const mostColumns = 200;

/** Adds a table; false for one of a single column, or that holds another or lines of code, which is no data. */
function addTable(table: Element, base: string, blocks: string[]): boolean {
  const children = shownIn(table);
  if (attributeOf(table, "role") === "presentation" || holdsLayout(children, 6)) return false;
  let spans: number[] = [];
  const rows = elementsIn(children, "tr", 2).map((row, index, all) => {
    // A cell does not reach into the next part of the table.
    if (row.parentNode !== all[index - 1]?.parentNode) spans = [];
    return cellsOf(row, base, spans);
  });
  const width = Math.max(0, ...rows.map((row) => row.length));
  if (width < 2) return false;
  for (const row of rows) while (row.length < width) row.push("");
  for (const caption of elementsIn(children, "caption", 1)) {
    const text = escapeLines(inlineText(shownIn(caption), base));
    if (text !== "") blocks.push(text);
  }
  rows.splice(1, 0, Array<string>(width).fill("---"));
  blocks.push(rows.map((row) => `| ${row.join(" | ")} |`).join("\n"));
  return true;
}

/** Returns whether one of some levels is a table, or lines of code. */
function holdsLayout(nodes: readonly Node[], levels: number): boolean {
  return nodes.some((node) => {
    if (isText(node)) return false;
    if (node.tagName === "table") return true;
    if (node.tagName === "pre" && allText(shownIn(node)).trim().includes("\n")) return true;
    return levels > 1 && holdsLayout(shownIn(node), levels - 1);
  });
}

/** Returns the cells of a row; `spans` has the rows below that a cell of each column still covers. Cells over several leave the others empty. */
function cellsOf(row: Element, base: string, spans: number[]): string[] {
  const cells: string[] = [];
  /** Passes by a column that a cell above covers; false for any other. */
  const skip = (): boolean => {
    const rest = spans[cells.length] ?? 0;
    if (rest === 0) return false;
    spans[cells.length] = rest - 1;
    cells.push("");
    return true;
  };
  for (const cell of shownIn(row)) {
    if (isText(cell) || (cell.tagName !== "td" && cell.tagName !== "th")) continue;
    while (skip());
    const width = wholeNumber(attributeOf(cell, "colspan")) ?? 1;
    const height = wholeNumber(attributeOf(cell, "rowspan")) ?? 1;
    let text = oneLine(inlineText(shownIn(cell), base)).replaceAll("|", "\\|");
    for (let column = 0; column < Math.max(1, width) && cells.length < mostColumns; column++) {
      spans[cells.length] = height === 0 ? Infinity : Math.max(height, 1) - 1;
      cells.push(text);
      text = "";
    }
    if (cells.length >= mostColumns) break;
  }
  // A row may have fewer cells than stand between the columns that are covered.
  while (spans.some((rest, column) => column >= cells.length && rest > 0)) if (!skip()) cells.push("");
  return cells;
}

/** Elements of one tag, at most so many levels below, and none within each other. */
function elementsIn(nodes: readonly Node[], tag: string, levels: number, found: Element[] = []): Element[] {
  for (const node of nodes) {
    if (isText(node)) continue;
    if (node.tagName === tag) found.push(node);
    else if (levels > 1) elementsIn(shownIn(node), tag, levels - 1, found);
  }
  return found;
}
