// Formulas of a page as TeX, each once: MathML, and the copies that KaTeX, MathJax and MediaWiki write beside each other.
import type { DefaultTreeAdapterTypes } from "parse5";

type Child = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

/** Tag and classes of an element that holds nothing but copies of one formula, as `mjx-container` does. */
const rendered =
  /^(?:span (?:.* )?(?:katex|MathJax|mjx-chtml)(?: |$)|(?:div|span) (?:.* )?(?:MathJax_|MJXc-|mwe-math-element))/;
/** Deeper MathML gives its text alone. */
const deepest = 100;

/** Returns the formula that stands at a place among siblings, between dollars; "" for a copy of the next one, undefined for other elements. */
export function formulaOf(nodes: readonly Child[], index: number): string | undefined {
  const node = nodes[index];
  if (!node || !("attrs" in node)) return undefined;
  const { tagName } = node;
  if (tagName === "script") {
    const mode = scriptMode(node);
    return mode && between(withoutComments(rawText(node)), mode === "display");
  }
  if (tagName !== "math" && !isRendered(node)) return undefined;
  const classes = attributeOf(node, "class") ?? "";
  // MathJax 2 keeps the source in a script behind what it rendered.
  const next = nodes.slice(index + 1, index + 5).find((other) => "tagName" in other && !isRendered(other));
  if (tagName !== "math" && next && scriptMode(next)) return "";
  return sourceOf(node, /block|Display/.test(classes) || attributeOf(node, "display") === "true");
}

function isRendered(node: Element): boolean {
  const { tagName, attrs } = node;
  if (tagName === "mjx-container") return true;
  if (attrs.length === 0 || (tagName !== "span" && tagName !== "div")) return false;
  return rendered.test(`${tagName} ${attributeOf(node, "class") ?? ""}`);
}

function scriptMode(node: Child): "display" | "inline" | undefined {
  const type = "attrs" in node && node.tagName === "script" ? (attributeOf(node, "type") ?? "") : "";
  if (!/^math\/(?:tex|asciimath)/i.test(type)) return undefined;
  return /mode\s*=\s*display/i.test(type) ? "display" : "inline";
}

/** Returns the best copy: TeX as it was written, before MathML, before what is seen. */
function sourceOf(root: Element, isDisplay: boolean): string {
  let [written, attribute, picture, glyphs] = ["", "", "", ""];
  let math: Element | undefined;
  for (const node of below(root)) {
    if ("value" in node) glyphs += node.value;
    if (!("attrs" in node)) continue;
    const { tagName } = node;
    const isTex = tagName === "annotation" && /tex/i.test(attributeOf(node, "encoding") ?? "");
    if (isTex || scriptMode(node)) written ||= rawText(node);
    attribute ||= attributeOf(node, "alttext") ?? attributeOf(node, "data-latex") ?? "";
    if (tagName === "math") math ??= node;
    if (tagName === "img") picture ||= attributeOf(node, "alt") ?? "";
    // MathJax 3 draws letters by their numbers.
    const code = attributeOf(node, "data-c") ?? /(?:^|\s)mjx-c([0-9A-F]+)/.exec(attributeOf(node, "class") ?? "")?.[1];
    if (code && node.childNodes.length === 0)
      glyphs += String.fromCodePoint(Math.min(Number.parseInt(code, 16) || 0, 0x10ffff));
  }
  const inBlock = isDisplay || (math !== undefined && attributeOf(math, "display") === "block");
  // Comments stand in TeX that somebody wrote; a sign anywhere else is one that is seen.
  const tex = withoutComments(written).trim();
  const shown = attribute || (math ? texOf(math, 0).trim() : "") || picture || glyphs;
  return between(tex || shown.replace(/(?<!\\)%/g, "\\%"), inBlock);
}

function withoutComments(tex: string): string {
  return tex.replace(/(?<!\\)%.*/g, "");
}

function between(tex: string, isDisplay: boolean): string {
  const line = tex
    .replace(/[\u{1d400}-\u{1d7ff}]/gu, (letter) => letter.normalize("NFKC"))
    .replace(/[\s\u200b\u2061-\u2064]+/g, " ")
    .trim();
  const mark = isDisplay ? "$$" : "$";
  return line === "" ? "" : mark + line + mark;
}

/** Children by their place, in braces where they stand in braces, else only where they need them. */
const layouts: ReadonlyMap<string, string> = new Map([
  ["mfrac", "\\frac{1}{2}"],
  ["mroot", "\\sqrt[2]{1}"],
  ["msup", "1^2"],
  ["mover", "1^2"],
  ["msub", "1_2"],
  ["munder", "1_2"],
  ["msubsup", "1_2^3"],
  ["munderover", "1_2^3"],
]);

function texOf(node: Element, depth: number): string {
  if (depth === deepest) return rawText(node);
  const children = node.childNodes.filter((child) => "attrs" in child);
  const parts = children.map((child) => texOf(child, depth + 1));
  const layout = layouts.get(node.tagName);
  if (layout) {
    return layout.replace(/\{(\d)\}|\d/g, (place, braced?: string) => {
      const part = (parts[Number(braced ?? place) - 1] ?? "").trim();
      return braced === undefined && [...part].length === 1 ? part : `{${part}}`;
    });
  }
  switch (node.tagName) {
    case "annotation":
    case "annotation-xml":
    case "mphantom":
      return "";
    case "mspace":
      return " ";
    case "msqrt":
      return `\\sqrt{${parts.join("").trim()}}`;
    case "mfenced":
      return `${attributeOf(node, "open") ?? "("}${parts.join(",")}${attributeOf(node, "close") ?? ")"}`;
    case "mtr":
      return parts.join(" & ");
    case "mtable":
      return `\\begin{matrix}${parts.join(" \\\\ ")}\\end{matrix}`;
    default: {
      if (parts.length > 0) return parts.join("");
      const text = rawText(node);
      return /\p{L}{2}/u.test(text) ? ` ${text.trim()} ` : text.trim();
    }
  }
}

/** An element and all below it, in their order, by a loop: they may be nested without end. */
export function* below(root: Element): Generator<Child> {
  const left: Child[] = [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    yield node;
    if ("childNodes" in node) left.push(...node.childNodes.toReversed());
  }
}

/** Returns the text below an element, hidden parts included. */
export function rawText(root: Element): string {
  let text = "";
  for (const node of below(root)) if ("value" in node) text += node.value;
  return text;
}

/** Returns an attribute as the page has it. */
export function attributeOf(node: Element, name: string): string | undefined {
  for (const attribute of node.attrs) if (attribute.name === name) return attribute.value;
  return undefined;
}
