// A parsed page as what the writer needs of it: what is shown, without the links that only mark a place.
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, html as markup, parse } from "parse5";
import { attributeOf, below, formulaOf } from "./formula.ts";

type Child = DefaultTreeAdapterTypes.ChildNode;
type Parent = DefaultTreeAdapterTypes.ParentNode;
type Parsed = DefaultTreeAdapterTypes.Element;
export type Text = DefaultTreeAdapterTypes.TextNode;

/** An element as it is parsed, with room for what is found of it once: a large page has so many that a second tree would be slow. */
export interface Element extends Parsed {
  readonly kind: TagKind;
  /** Elements above it, as it is shown. */
  depth: number;
  shadow: Shadow | undefined;
  shown: readonly Node[] | undefined;
  holdsBlocks: boolean | undefined;
}

/** A text, or an element that is shown. A formula is `math`, with its TeX as the one child. */
export type Node = Text | Element;

export function isText(node: Child | Node): node is Text {
  return node.nodeName === "#text";
}

function isElement(node: DefaultTreeAdapterTypes.Node): node is Element {
  return "holdsBlocks" in node;
}

interface TagKind {
  readonly name: string;
  /** It holds no text of the page. */
  readonly isUnseen: boolean;
  /** It begins a new block; the text of all others runs on. */
  readonly isBlock: boolean;
}

/** By their names; one object for all elements of a tag, as the parser makes a new string for each. */
const kinds: ReadonlyMap<string, TagKind> = new Map(
  [
    ...kindsOf("a abbr b br code del em i img kbd math s samp small span strong sub sup svg"),
    ...kindsOf(
      `script style template head embed noembed noframes input select datalist textarea meter progress
      map area param source track link meta base defs symbol metadata`,
      { isUnseen: true },
    ),
    ...kindsOf(
      `address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3
      h4 h5 h6 header hgroup hr iframe legend li listing main menu nav noscript ol p pre search section summary table tbody td tfoot th
      thead tr ul xmp`,
      { isBlock: true },
    ),
  ].map((kind) => [kind.name, kind]),
);

function kindsOf(names: string, { isUnseen = false, isBlock = false } = {}): TagKind[] {
  return names.split(/\s+/).map((name) => ({ name, isUnseen, isBlock }));
}

/** Below, blocks count as text that runs on: pages are made that nest without end. */
const deepest = 200;

const noAttributes: Parsed["attrs"] = [];

const treeAdapter: typeof defaultTreeAdapter = {
  ...defaultTreeAdapter,
  createElement: newElement,
  adoptAttributes(element, attributes) {
    if (element.attrs === noAttributes) element.attrs = [];
    defaultTreeAdapter.adoptAttributes(element, attributes);
  },
  appendChild(parent, node) {
    joinText(parent);
    parent.childNodes.push(node);
    node.parentNode = parent;
  },
  onItemPop: joinText,
};

function newElement(name: string, namespaceURI: markup.NS, attributes: Parsed["attrs"]): Element {
  const kind = kinds.get(name) ?? { name, isUnseen: false, isBlock: false };
  return {
    nodeName: kind.name,
    tagName: kind.name,
    kind,
    attrs: attributes.length === 0 ? noAttributes : attributes,
    namespaceURI,
    childNodes: [],
    parentNode: null,
    depth: 0,
    shadow: undefined,
    shown: undefined,
    holdsBlocks: undefined,
  };
}

/** Has V8 join the text that ends here, which the parser adds word by word: until it is read, each word takes ten times its memory. */
function joinText({ childNodes }: Parent): void {
  const last = childNodes.at(-1);
  if (last?.nodeName === "#text" && "value" in last) last.value.charCodeAt(0);
}

/** Parses a page, as browsers do without scripts. */
export function parsePage(html: string): { title: string; base: string | undefined; body: Element } {
  const document = parse(html, { scriptingEnabled: false, treeAdapter });
  const root = document.childNodes.find((node) => node.nodeName === "html");
  const [head, body] = ["head", "body"].map((name) => childrenOf(root).find((node) => node.nodeName === name));
  const title = childrenOf(head).find((node) => node.nodeName === "title");
  const base = childrenOf(head).find((node) => node.nodeName === "base");
  const shown = body && isElement(body) ? body : newElement("body", markup.NS.HTML, noAttributes);
  if (/shadowrootmode/i.test(html)) shown.shadow = { slotted: new Map(), outer: undefined };
  return {
    title: childrenOf(title)
      .map((node) => ("value" in node ? node.value : ""))
      .join(""),
    base: base && "attrs" in base ? attributeOf(base, "href") : undefined,
    body: shown,
  };
}

function childrenOf(node: DefaultTreeAdapterTypes.Node | undefined): Child[] {
  return node && "childNodes" in node ? node.childNodes : [];
}

/** The children of an element that has a shadow root, by the names of the slots that show them; none outside of those. */
interface Shadow {
  readonly slotted: Map<string, Child[]>;
  readonly outer: Shadow | undefined;
}

/** Returns the children that are shown; the same at each reading. */
export function shownIn(element: Element): readonly Node[] {
  element.shown ??= findShown(element);
  return element.shown;
}

/** Returns whether it is a block, or an inline element (a link, say) with a block in it. */
export function holdsBlocks(element: Element): boolean {
  element.holdsBlocks ??=
    element.depth < deepest &&
    (element.kind.isBlock || shownIn(element).some((child) => !isText(child) && holdsBlocks(child)));
  return element.holdsBlocks;
}

function findShown(element: Element): readonly Node[] {
  const [nodes, shadow] =
    element.shadow === undefined ? [element.childNodes, undefined] : composed(element, element.shadow);
  // The list itself as long as all are shown: a copy for each element would be much memory.
  let shown: Node[] | undefined;
  for (const [index, node] of nodes.entries()) {
    const seen = isText(node) ? node : isElement(node) ? shownAs(node, nodes, index) : undefined;
    if (seen !== node) shown ??= nodes.slice(0, index) as Node[];
    if (seen === undefined) continue;
    shown?.push(seen);
    if (isText(seen)) continue;
    seen.depth = element.depth + 1;
    seen.shadow = shadow;
  }
  return shown ?? (nodes as Node[]);
}

/** Returns the element, or the formula that it draws; undefined if it is not shown. */
function shownAs(element: Element, siblings: readonly Child[], index: number): Element | undefined {
  if (isHidden(element) || isPermalink(element)) return undefined;
  const tex = formulaOf(siblings, index);
  if (tex !== undefined) return formula(tex);
  // The title of a drawing is another.
  const isTitle = element.tagName === "title" && element.namespaceURI === markup.NS.HTML;
  return isTitle || (element.kind.isUnseen && !isMark(element)) ? undefined : element;
}

/** Returns whether it is the box of a task, which nobody can change; others are controls. */
function isMark(element: Element): boolean {
  return (
    element.tagName === "input" &&
    attributeOf(element, "type") === "checkbox" &&
    attributeOf(element, "disabled") !== undefined
  );
}

function formula(tex: string): Element {
  const text: Text = { nodeName: "#text", value: tex, parentNode: null };
  return { ...newElement("math", markup.NS.MATHML, noAttributes), shown: [text], holdsBlocks: false };
}

/** Returns what stands below an element: of a shadow root its content, in which slots show the element's children, each once. */
function composed(node: Parsed, shadow: Shadow): [Child[], Shadow | undefined] {
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
  let isOpen = node.tagName !== "dialog";
  let isMarked = false;
  for (const { name, value } of node.attrs) {
    if (name === "role" && value === "tabpanel") return false;
    if (name === "open") isOpen = true;
    else if (name === "hidden") isMarked ||= value !== "until-found";
    else if (name === "aria-hidden") isMarked ||= value === "true";
    else if (name === "style") isMarked ||= /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(value);
  }
  return isMarked || !isOpen;
}

/** Returns all text below, blocks on lines of their own, by a loop: elements may be nested without end. */
export function allText(nodes: readonly Node[]): string {
  const [only] = nodes;
  if (nodes.length === 1 && only !== undefined && isText(only)) return only.value;
  const left: (Node | undefined)[] = nodes.toReversed();
  const texts: string[] = [];
  while (left.length > 0) {
    const node = left.pop();
    if (node === undefined) {
      // A block begins or ends.
      if (texts.at(-1)?.endsWith("\n") === false) texts.push("\n");
    } else if (isText(node)) {
      if (node.value !== "") texts.push(node.value);
    } else if (node.tagName === "br") texts.push("\n");
    else {
      const first = node.tagName === "sup" ? shownIn(node)[0] : undefined;
      if (first && isText(first) && /^[-+]?\d/.test(first.value) && /[\p{L}\p{N})]$/u.test(texts.at(-1) ?? ""))
        texts.push("^");
      const edge = holdsBlocks(node) ? [undefined] : [];
      left.push(...edge);
      for (const child of shownIn(node).toReversed()) left.push(child);
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
