// Text that runs on: words, emphasis, links, pictures and code within a paragraph; text that would be Markdown stays text.
import { attributeOf } from "./formula.ts";
import { allText, type Element, holdsBlocks, isText, type Node, shownIn } from "./htmlTree.ts";

/** Deeper elements give their text alone. */
const deepest = 100;

/** Returns a paragraph of some nodes, its spaces folded; lines break where the page breaks them by `<br>`. */
export function inlineText(nodes: readonly Node[], base: string): string {
  return tidy(written(nodes, base, 0));
}

function written(nodes: readonly Node[], base: string, depth: number): string {
  if (depth === deepest) return words(allText(nodes));
  let text = "";
  let last = "";
  for (const node of nodes) {
    let piece = isText(node) ? words(node.value) : elementText(node, base, depth + 1);
    if (piece === "") continue;
    // Each is right alone: a bracket and a sign of two pieces make no link or picture.
    if (!isText(node) && (node.tagName === "sup" || node.tagName === "sub")) piece = shifted(node.tagName, text, piece);
    if (piece.startsWith("(") && last.endsWith("]")) text += "\\";
    else if (piece.startsWith("[") && last.endsWith("!")) text = `${text.slice(0, -1)}\\!`;
    text += piece;
    last = piece;
  }
  return text;
}

function elementText(node: Element, base: string, depth: number): string {
  switch (node.tagName) {
    case "br":
      return "\n";
    case "wbr":
      return "";
    case "img":
      return picture(attributeOf(node, "alt"), attributeOf(node, "src"), base);
    case "math":
      return allText(shownIn(node));
    case "text":
    case "title":
    case "desc":
      // Each stands at a place of its own in a drawing.
      return ` ${written(shownIn(node), base, depth)} `;
    case "a":
      return link(written(shownIn(node), base, depth), attributeOf(node, "href"), base);
    case "code":
    case "kbd":
    case "samp":
    case "tt":
      return code(allText(shownIn(node)));
    case "strong":
    case "b":
      return around(written(shownIn(node), base, depth), "**");
    case "em":
    case "i":
      return around(written(shownIn(node), base, depth), "*");
    case "del":
    case "s":
      return around(written(shownIn(node), base, depth), "~~");
    case "q":
      return `“${written(shownIn(node), base, depth)}”`;
    case "input":
      return attributeOf(node, "checked") === undefined ? "[ ] " : "[x] ";
    case "video":
    case "audio":
      return link(node.tagName, attributeOf(node, "src"), base);
    default: {
      const text = written(shownIn(node), base, depth);
      return holdsBlocks(node) ? ` ${text} ` : text;
    }
  }
}

const ordinals = /^(?:st|n?d|rd|th|n?de|nds|ers?|[eè]?res?|[èe]?mes?|es?|[oa])$/i;

/** Returns whether raised letters mean the same on the line: the end of an ordinal, a title, a trade mark. A power stands on one small letter. */
function isWord(before: string, raised: string): boolean {
  if (/^[ºª®™©]+$/.test(raised)) return true;
  if (/\d$/.test(before)) return ordinals.test(raised);
  return /^\p{L}{2,}$/u.test(raised) && /\p{Lu}$|\p{L}{2}$/u.test(before);
}

/** Returns a raised or lowered text so that it cannot be read as part of what stands before it: 10 raised by 6 is `10^6`, not 106. */
function shifted(tag: "sup" | "sub", before: string, text: string): string {
  const inner = text.trim().replace(/^(\*{1,3})([\p{L}\p{N}]+)\1$/u, "$2");
  // Signs of notes in brackets need no mark, nor do the numbers of a formula of chemistry.
  if (!/[\p{L}\p{N})*`]$/u.test(before) || !/^[-+\u2212*\p{L}\p{N}]/u.test(inner)) return text;
  if (tag === "sup" ? isWord(before, inner) : /\p{L}$/u.test(before) && /^\d+$/.test(inner)) return text;
  const isOne = /^[-+\u2212]?[\p{L}\p{N}.*]+$/u.test(inner);
  return `${tag === "sup" ? "^" : "_"}${isOne ? inner : `(${inner})`}`;
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
  const label = oneLine(tidy(text));
  const url = label === "" ? undefined : absoluteUrl(address, base);
  if (url === undefined) return text;
  const before = /^\s/.test(text) ? text.slice(0, 1) : "";
  const after = /\s$/.test(text) ? text.slice(-1) : "";
  return label === url ? `${before}<${url}>${after}` : `${before}[${withoutBrackets(label)}](${url})${after}`;
}

/** Escapes brackets, but those of pictures, code and formulas. */
function withoutBrackets(label: string): string {
  if (!/[[\]]/.test(label)) return label;
  return label.replace(/!\[[^\]]{0,1000}\](?:\([^)]{0,2000}\))?|(`{1,9}|\${1,2})[^`$]{1,1000}\1|\\.|[[\]]/g, (part) =>
    part.length === 1 ? `\\${part}` : part,
  );
}

/** Returns the text with its lines joined by spaces. */
export function oneLine(text: string): string {
  return text.includes("\n") ? text.replace(/\s*\n\s*/g, " ") : text;
}

function picture(alt: string | undefined, source: string | undefined, base: string): string {
  const label = folded(alt ?? "")
    .trim()
    .replace(/[[\]]/g, "\\$&");
  if (label === "") return "";
  const url = absoluteUrl(source, base);
  return url === undefined ? `![${label}]` : `![${label}](${url})`;
}

function code(text: string): string {
  const inner = folded(text).trim();
  if (inner === "") return "";
  if (!inner.includes("`")) return `\`${inner}\``;
  const fence = "`".repeat(longestTicks(inner) + 1);
  const space = inner.startsWith("`") || inner.endsWith("`") ? " " : "";
  return fence + space + inner + space + fence;
}

/** Returns the length of the longest row of backticks. */
export function longestTicks(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

/** Marks around the words, not around the spaces at their ends. */
function around(text: string, mark: string): string {
  const inner = text.trim();
  if (inner === "") return text;
  if (inner.length === text.length) return mark + inner + mark;
  const at = text.indexOf(inner);
  return text.slice(0, at) + mark + inner + mark + text.slice(at + inner.length);
}

/** Returns a text of the page, its spaces folded, without the meaning that Markdown gives its signs. */
function words(text: string): string {
  return /[\t\n\f\r\u00a0`\\<&[\]*_~$]| {2}/.test(text) ? escapeText(folded(text)) : text;
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
    const isWithin = sign.startsWith("_") && isLetter(before) === isLetter(after);
    return !mayPair || isWithin || (before.trim() === "" && after.trim() === "") ? sign : sign.replace(/./g, "\\$&");
  });
}

function isLetter(letter: string): boolean {
  return /[\p{L}\p{N}]/u.test(letter);
}

/** Keeps the lines of a paragraph from beginning a heading, list, quote, table, rule, fence or definition. */
export function escapeLines(paragraph: string): string {
  if (!paragraph.includes("\n") && !/^[\d#+*>|=~:[_-]/.test(paragraph)) return paragraph;
  return paragraph
    .replace(/^(\d{1,9})(?=[.)](?:\s|$))/gm, "$1\\")
    .replace(/^(?=#{1,6}(?:\s|$)|[-+*](?:\s|$)|[>|]|[-=]+$|~{3}|(?:[-*_] ?){3,}$|:?-+:? *\||\[[^\]\n]*\]:)/gm, "\\");
}
