// A page as Markdown: headings, lists, tables, code and links stay; looks go.
import { allText, type Element, type Node, parsePage } from "./htmlTree.ts";
import { absoluteUrl, escapeLines, escapeText, inlineText } from "./inline.ts";

/** Writes a page as Markdown, its title first. Links are absolute, from `url` or the page's own base. */
export function pageToMarkdown(html: string, url: string): string {
  const { title, base = "", body } = parsePage(html);
  const blocks = blocksOf(body.children, URL.canParse(base, url) ? new URL(base, url).href : url);
  const heading = escapeText(title.replace(/\s+/g, " ").trim());
  const isRepeated = blocks.slice(0, 3).some((block) => block.replace(/^#+ /, "") === heading);
  return [...(heading === "" || isRepeated ? [] : [`# ${heading}`]), ...blocks].join("\n\n");
}

/** Returns the blocks of some nodes: paragraphs, headings, lists, each one text without a blank line at its ends. */
function blocksOf(nodes: readonly Node[], base: string): string[] {
  const blocks: string[] = [];
  let running: Node[] = [];
  const endParagraph = (): void => {
    if (running.length === 0) return;
    const text = escapeLines(inlineText(running, base));
    if (text !== "") blocks.push(text);
    running = [];
  };
  for (const node of nodes) {
    if (typeof node === "string" || !node.holdsBlocks) {
      running.push(node);
    } else {
      endParagraph();
      blocks.push(...blockOf(node, base));
    }
  }
  endParagraph();
  return blocks;
}

function blockOf(element: Element, base: string): string[] {
  const { tag, children } = element;
  switch (tag) {
    case "h1":
    case "h2":
    case "h3":
    case "h4":
    case "h5":
    case "h6": {
      const text = inlineText(children, base).replace(/\s*\n\s*/g, " ");
      return text === "" ? [] : [`${"#".repeat(Number(tag[1]))} ${text}`];
    }
    case "hr":
      return ["---"];
    case "pre":
    case "listing":
    case "xmp":
      return codeBlock(element);
    case "blockquote":
      return prefixed(blocksOf(children, base), "> ", "> ");
    case "ul":
    case "ol":
    case "menu":
    case "dir":
      return list(element, base);
    case "dd":
      return prefixed(blocksOf(children, base), ": ", "  ");
    case "table":
      return dataTable(element, base) ?? blocksOf(children, base);
    case "a":
      return [...blocksOf(children, base), ...linkTo(element.attribute("href"), base)];
    case "iframe":
      return linkTo(element.attribute("src"), base);
    default:
      return blocksOf(children, base);
  }
}

function list(element: Element, base: string): string[] {
  const { tag, children } = element;
  let number = Number(element.attribute("start") ?? 1) || 1;
  const items: string[] = [];
  const loose: Node[] = [];
  for (const child of children) {
    if (typeof child === "string" || child.tag !== "li") {
      loose.push(child);
      continue;
    }
    const marker = tag === "ol" ? `${number++}. ` : "- ";
    const [item] = prefixed(blocksOf(child.children, base), marker, " ".repeat(marker.length), "\n");
    if (item !== undefined) items.push(item);
  }
  const rest = blocksOf(loose, base);
  return items.length === 0 ? rest : [items.join("\n"), ...rest];
}

/** Blocks as one, whose first line has one prefix and the others another; none for none. */
function prefixed(blocks: readonly string[], first: string, others: string, between = "\n\n"): string[] {
  if (blocks.length === 0) return [];
  const lines = blocks.join(between).split("\n");
  return [
    lines
      .map((line, index) => (index === 0 ? first : others) + line)
      .map((line) => line.trimEnd())
      .join("\n"),
  ];
}

function codeBlock(element: Element): string[] {
  const code = allText(element.children)
    .replace(/\u00a0/g, " ")
    .replace(/^\n/, "")
    .trimEnd();
  if (code === "") return [];
  const inner = element.children.find((child): child is Element => typeof child !== "string" && child.tag === "code");
  const classes = `${element.attribute("class") ?? ""} ${inner?.attribute("class") ?? ""}`;
  const language = /(?:^|\s)(?:language|lang|highlight-source)-([\w+#-]{1,30})/.exec(classes)?.[1] ?? "";
  const longest = Math.max(2, ...(code.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return [`${fence}${language}\n${code}\n${fence}`];
}

function linkTo(address: string | undefined, base: string): string[] {
  const url = absoluteUrl(address, base);
  return url === undefined ? [] : [`<${url}>`];
}

const mostColumns = 200;

/** Returns a table as Markdown; undefined for one of a single column, or that holds another or lines of code, which is no data. */
function dataTable(table: Element, base: string): string[] | undefined {
  if (table.attribute("role") === "presentation" || elementsIn(table.children, "table", 6).length > 0) return undefined;
  if (elementsIn(table.children, "pre", 6).some((pre) => allText(pre.children).trim().includes("\n"))) return undefined;
  const rows = elementsIn(table.children, "tr", 2).map((row) => cellsOf(row, base));
  const width = Math.max(0, ...rows.map((row) => row.length));
  if (width < 2) return undefined;
  const [head = [], ...others] = rows.map((row) => [...row, ...Array<string>(width - row.length).fill("")]);
  const lines = [head, Array<string>(width).fill("---"), ...others].map((row) => `| ${row.join(" | ")} |`);
  const captions = elementsIn(table.children, "caption", 1).map((caption) =>
    escapeLines(inlineText(caption.children, base)),
  );
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
function elementsIn(nodes: readonly Node[], tag: string, levels: number, found: Element[] = []): Element[] {
  for (const node of nodes) {
    if (typeof node === "string") continue;
    if (node.tag === tag) found.push(node);
    else if (levels > 1) elementsIn(node.children, tag, levels - 1, found);
  }
  return found;
}
