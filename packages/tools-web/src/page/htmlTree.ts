// A parsed page as what the writer needs of it: what is shown, without the links that only mark a place.
import { type DefaultTreeAdapterTypes, html as markup, parse } from "parse5";
import { attributeOf, below, formulaOf } from "./formula.ts";

type Child = DefaultTreeAdapterTypes.ChildNode;
type Parsed = DefaultTreeAdapterTypes.Element;

export interface Element {
  /** A formula is `math`, with its TeX as the one child. */
  readonly tag: string;
  attribute(name: string): string | undefined;
  /** Those that are shown; the same at each reading. */
  readonly children: readonly Node[];
  /** It is a block, or an inline element (a link, say) with a block in it. */
  readonly holdsBlocks: boolean;
}

/** A text, or an element that is shown. */
export type Node = string | Element;

/** Parts that hold no text of the page. */
const unseen = new Set(
  `script style template head embed noembed noframes input select datalist textarea meter progress
  map area param source track link meta base defs symbol metadata`.split(/\s+/),
);

/** The tags that begin a new block; the text of all others runs on. */
const blockTags = new Set(
  `address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4
  h5 h6 header hgroup hr iframe legend li listing main menu nav noscript ol p pre search section summary table tbody td tfoot th thead tr
  ul xmp`.split(/\s+/),
);
/** Below, blocks count as text that runs on: pages are made that nest without end. */
const deepest = 200;

/** Parses a page, as browsers do without scripts. */
export function parsePage(html: string): { title: string; base: string | undefined; body: Element } {
  const document = parse(html, { scriptingEnabled: false });
  const outermost = /shadowrootmode/i.test(html) ? { slotted: new Map(), outer: undefined } : undefined;
  const root = document.childNodes.find((node) => node.nodeName === "html");
  const [head, body] = ["head", "body"].map((name) => childrenOf(root).find((node) => node.nodeName === name));
  const title = childrenOf(head).find((node) => node.nodeName === "title");
  const base = childrenOf(head).find((node) => node.nodeName === "base");
  return {
    title: childrenOf(title)
      .map((node) => ("value" in node ? node.value : ""))
      .join(""),
    base: base && "attrs" in base ? attributeOf(base, "href") : undefined,
    body: body && "attrs" in body ? new ShownElement(body, 0, outermost) : noBody,
  };
}

const noBody: Element = { tag: "body", attribute: () => undefined, children: [], holdsBlocks: true };

function childrenOf(node: DefaultTreeAdapterTypes.Node | undefined): Child[] {
  return node && "childNodes" in node ? node.childNodes : [];
}

/** The children of an element that has a shadow root, by the names of the slots that show them; none outside of those. */
interface Shadow {
  readonly slotted: Map<string, Child[]>;
  readonly outer: Shadow | undefined;
}

/** A class, as a large page has many: an object with getters of its own takes several times the memory. */
class ShownElement implements Element {
  readonly tag: string;
  readonly #node: Parsed;
  readonly #depth: number;
  readonly #shadow: Shadow | undefined;
  #children: readonly Node[] | undefined;
  #holdsBlocks: boolean | undefined;

  constructor(node: Parsed, depth: number, shadow: Shadow | undefined) {
    this.tag = node.tagName;
    this.#node = node;
    this.#depth = depth;
    this.#shadow = shadow;
  }

  attribute(name: string): string | undefined {
    return attributeOf(this.#node, name);
  }

  get children(): readonly Node[] {
    this.#children ??= shownBelow(this.#node, this.#depth, this.#shadow);
    return this.#children;
  }

  get holdsBlocks(): boolean {
    this.#holdsBlocks ??=
      this.#depth < deepest &&
      (blockTags.has(this.tag) || this.children.some((child) => typeof child !== "string" && child.holdsBlocks));
    return this.#holdsBlocks;
  }
}

function shownBelow(node: Parsed, depth: number, outer: Shadow | undefined): Node[] {
  const [nodes, shadow] = composed(node, outer);
  const shown: Node[] = [];
  for (const [index, child] of nodes.entries()) {
    if (child.nodeName === "#text" && "value" in child) {
      shown.push(child.value);
      continue;
    }
    if (!("attrs" in child) || isHidden(child) || isPermalink(child)) continue;
    const tex = formulaOf(nodes, index);
    const isTitle = child.tagName === "title" && child.namespaceURI === markup.NS.HTML;
    if (tex !== undefined) shown.push({ tag: "math", attribute: () => undefined, children: [tex], holdsBlocks: false });
    else if (!isTitle && !unseen.has(child.tagName)) shown.push(new ShownElement(child, depth + 1, shadow));
  }
  return shown;
}

/** Returns what stands below an element: of a shadow root its content, in which slots show the element's children, each once. */
function composed(node: Parsed, shadow: Shadow | undefined): [Child[], Shadow | undefined] {
  // The page has no shadow root.
  if (shadow === undefined) return [node.childNodes, undefined];
  const root = node.childNodes.find(isShadowRoot);
  if (root && "content" in root) {
    const slotted = new Map<string, Child[]>();
    for (const child of node.childNodes) {
      const name = ("attrs" in child && attributeOf(child, "slot")) || "";
      const others = slotted.get(name);
      if (others) others.push(child);
      else slotted.set(name, [child]);
    }
    return [root.content.childNodes, { slotted, outer: shadow }];
  }
  const assigned = node.tagName === "slot" ? shadow.slotted.get(attributeOf(node, "name") ?? "") : undefined;
  if (!assigned?.some(isContent)) return [node.childNodes, shadow];
  shadow.slotted.delete(attributeOf(node, "name") ?? "");
  return [assigned, shadow.outer];
}

/** Texts of spaces leave a slot its own content. */
function isContent(node: Child): boolean {
  return "value" in node ? node.value.trim() !== "" : "attrs" in node && node.tagName !== "template";
}

function isShadowRoot(node: Child): boolean {
  return (
    node.nodeName === "template" &&
    "content" in node &&
    /^(?:open|closed)$/i.test(attributeOf(node, "shadowrootmode") ?? "")
  );
}

/** Tabs that are not in front are content, and so is what a search in the page opens. */
function isHidden(node: Parsed): boolean {
  if (node.attrs.length === 0) return node.tagName === "dialog";
  if (attributeOf(node, "role") === "tabpanel") return false;
  if (!["until-found", undefined].includes(attributeOf(node, "hidden"))) return true;
  if (attributeOf(node, "aria-hidden") === "true") return true;
  if (node.tagName === "dialog" && attributeOf(node, "open") === undefined) return true;
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attributeOf(node, "style") ?? "");
}

/** Returns all text below, blocks on lines of their own, by a loop: elements may be nested without end. */
export function allText(nodes: readonly Node[]): string {
  const left: (Node | undefined)[] = nodes.toReversed();
  const texts: string[] = [];
  while (left.length > 0) {
    const node = left.pop();
    if (node === undefined) {
      // A block begins or ends.
      if (texts.at(-1)?.endsWith("\n") === false) texts.push("\n");
    } else if (typeof node === "string") {
      if (node !== "") texts.push(node);
    } else if (node.tag === "br") texts.push("\n");
    else {
      const edge = node.holdsBlocks ? [undefined] : [];
      left.push(...edge);
      for (const child of node.children.toReversed()) left.push(child);
      left.push(...edge);
    }
  }
  return texts.join("");
}

/** Signs that say nothing else wherever they stand: also zero-width characters, and those of icon fonts. */
const signsAlone = /^(?:[\s¶§#🔗⚓\p{Cf}\p{Co}]|\ufe0f)+$/u;
/** Words that say it in a heading; other signs do as well. */
const permalinkWords =
  /^\P{L}*(?:(?:copy |direct |perma(?:nent )?)?link(?:$|\P{L}+(?:to|for)\P{L})|(?:header |section )?anchor\P{L}*$|section titled\P{L})/iu;
/** Most elements between a heading and its link, and most nodes that are read of either. */
const mostAbove = 4;
const mostNodes = 60;

/** Returns whether an element is a link to a place of a page that only marks the place. */
function isPermalink(node: Parsed): boolean {
  if (node.tagName !== "a" || !attributeOf(node, "href")?.includes("#")) return false;
  const text = shortText(node)?.trim();
  if (!text) return false;
  if (signsAlone.test(text)) return true;
  if (!permalinkWords.test(text) && /[\p{L}\p{N}]/u.test(text)) return false;
  const heading = headingOf(node);
  return heading !== undefined && shortText(heading)?.trim() !== text;
}

function headingOf(node: Parsed): Parsed | undefined {
  let above = node.parentNode;
  for (let level = 0; above && "tagName" in above && level < mostAbove; level++, above = above.parentNode) {
    if (/^(?:h[1-6]|dt|legend|caption|figcaption)$/.test(above.tagName)) return above;
  }
  return undefined;
}

/** Returns the text of an element; undefined for a long one. */
function shortText(root: Parsed): string | undefined {
  let text = "";
  let read = 0;
  for (const node of below(root)) {
    const isLong = "childNodes" in node && node.childNodes.length > mostNodes;
    if (isLong || read === mostNodes || text.length > 200) return undefined;
    read += 1;
    if ("value" in node) text += node.value;
  }
  return text;
}
