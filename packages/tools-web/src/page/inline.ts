// Text that runs on: words, emphasis, links, pictures and code within a paragraph; text that would be Markdown stays text.
import { allText, type Element, type Node } from "./htmlTree.ts";

/** Deeper elements give their text alone. */
const deepest = 100;

const marks: ReadonlyMap<string, string> = new Map([
  ["strong", "**"],
  ["b", "**"],
  ["em", "*"],
  ["i", "*"],
  ["del", "~~"],
  ["s", "~~"],
]);

/** Returns a paragraph of some nodes, its spaces folded; lines break where the page breaks them by `<br>`. */
export function inlineText(nodes: readonly Node[], base: string): string {
  return tidy(written(nodes, base, 0));
}

function written(nodes: readonly Node[], base: string, depth: number): string {
  if (depth === deepest) return escapeText(folded(allText(nodes)));
  return joinPieces(
    nodes.map((node) => (typeof node === "string" ? escapeText(folded(node)) : elementText(node, base, depth + 1))),
  );
}

function elementText(node: Element, base: string, depth: number): string {
  const { tag, children } = node;
  const inner = (): string => written(children, base, depth);
  switch (tag) {
    case "br":
      return "\n";
    case "wbr":
      return "";
    case "img":
      return picture(node.attribute("alt"), node.attribute("src"), base);
    case "math":
      return allText(children);
    case "text":
    case "title":
    case "desc":
      // Each stands at a place of its own in a drawing.
      return ` ${inner()} `;
    case "a":
      return link(inner(), node.attribute("href"), base);
    case "code":
    case "kbd":
    case "samp":
    case "tt":
      return code(allText(children));
    case "video":
    case "audio":
      return link(tag, node.attribute("src"), base);
    default: {
      const mark = marks.get(tag);
      if (mark !== undefined) return around(inner(), mark);
      return node.holdsBlocks ? ` ${inner()} ` : inner();
    }
  }
}

/** Returns the address that a link leads to; undefined for one within the page, and for what is no page (`javascript:`, `data:`). */
export function absoluteUrl(address: string | undefined, base: string): string | undefined {
  const url = address === undefined || address.startsWith("#") ? null : URL.parse(address, base);
  if (url === null) return undefined;
  const { href, protocol } = url;
  if (!["http:", "https:", "mailto:", "tel:", "ftp:"].includes(protocol)) return undefined;
  return href.replace(/[()<>]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

function link(text: string, address: string | undefined, base: string): string {
  const words = tidy(text).replace(/\s*\n\s*/g, " ");
  const url = absoluteUrl(address, base);
  if (url === undefined || words === "") return text;
  const [before = "", after = ""] = [/^\s/.exec(text)?.[0], /\s$/.exec(text)?.[0]];
  // Brackets of pictures, code and formulas stay.
  const label = words.replace(
    /!\[[^\]]{0,1000}\](?:\([^)]{0,2000}\))?|(`{1,9}|\${1,2})[^`$]{1,1000}\1|\\.|[[\]]/g,
    (part) => (part.length === 1 ? `\\${part}` : part),
  );
  return words === url ? `${before}<${url}>${after}` : `${before}[${label}](${url})${after}`;
}

function picture(alt: string | undefined, source: string | undefined, base: string): string {
  const words = folded(alt ?? "")
    .trim()
    .replace(/[[\]]/g, "\\$&");
  if (words === "") return "";
  const url = absoluteUrl(source, base);
  return url === undefined ? `![${words}]` : `![${words}](${url})`;
}

function code(text: string): string {
  const words = folded(text).trim();
  if (words === "") return "";
  const longest = Math.max(0, ...(words.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const space = words.startsWith("`") || words.endsWith("`") ? " " : "";
  return fence + space + words + space + fence;
}

/** Marks around the words, not around the spaces at their ends. */
function around(text: string, mark: string): string {
  const [, before = "", words = "", after = ""] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text) ?? [];
  return words === "" ? text : before + mark + words + mark + after;
}

function folded(text: string): string {
  // Single spaces, of which most of a text is made, stay as they are.
  return text.replace(/[\t\n\f\r\u00a0][ \t\n\f\r\u00a0]*| [ \t\n\f\r\u00a0]+/g, " ");
}

function tidy(text: string): string {
  if (!/ {2}|\n/.test(text)) return text.trim();
  return text
    .replace(/ {2,}/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** TeX between the marks that MathJax and KaTeX look for in text, then signs that mean something wherever they stand. */
const signs = new RegExp(
  [
    /(\\\((?:[^\\]|\\[^()]){1,4000}\\\)|\\\[(?:[^\\]|\\[^[\]]){1,4000}\\\]|\$\$[^$]{1,4000}\$\$)/,
    /`|\\(?=[!-/:-@[-`{-~])|<(?=[a-z/!?])|&(?=#?\w{1,32};)/,
    /\[(?=[^[\]]{0,1000}\]\()|\](?=\()/,
    /[*_]+|~~+/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gi",
);
/** A text without one of these is none of them. */
const anySign = /[`\\<&[\]*_~$]/;

/** Writes a text without the meaning that Markdown gives its signs. TeX between its marks stays as it is, for readers of either. */
export function escapeText(text: string): string {
  if (!anySign.test(text)) return text;
  const mayPair = (text.match(/[*_]+|~~+/g) ?? []).length > 1;
  return text.replace(signs, (sign, tex?: string, at?: number) => {
    if (tex !== undefined) return sign;
    if (!/^[*_~]/.test(sign)) return `\\${sign}`;
    const [before = " ", after = " "] = [text[(at ?? 0) - 1], text[(at ?? 0) + sign.length]];
    const isWithin = sign.startsWith("_") && isWord(before) === isWord(after);
    return !mayPair || isWithin || (before.trim() === "" && after.trim() === "") ? sign : sign.replace(/./g, "\\$&");
  });
}

function isWord(letter: string): boolean {
  return /[\p{L}\p{N}]/u.test(letter);
}

/** Keeps the lines of a paragraph from beginning a heading, list, quote, table, rule, fence or definition. */
export function escapeLines(paragraph: string): string {
  if (!paragraph.includes("\n") && !/^[\d#+*>|=~:[_-]/.test(paragraph)) return paragraph;
  return paragraph
    .replace(/^(\d{1,9})(?=[.)](?:\s|$))/gm, "$1\\")
    .replace(/^(?=#{1,6}(?:\s|$)|[-+*](?:\s|$)|[>|]|[-=]+$|~{3}|(?:[-*_] ?){3,}$|:?-+:? *\||\[[^\]\n]*\]:)/gm, "\\");
}

/** Joins pieces of a line that each are right: a bracket and a sign of two pieces make no link or picture. */
function joinPieces(pieces: readonly string[]): string {
  if (pieces.length < 2) return pieces[0] ?? "";
  const full = pieces.filter((piece) => piece !== "");
  return full
    .map((piece, index) => {
      const next = full[index + 1] ?? "";
      if (next.startsWith("(") && piece.endsWith("]")) return `${piece}\\`;
      return next.startsWith("[") && piece.endsWith("!") ? `${piece.slice(0, -1)}\\!` : piece;
    })
    .join("");
}
