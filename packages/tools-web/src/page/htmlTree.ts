// A parsed page as what the writer needs of it: no class of the parser's is named elsewhere.
import { type DefaultTreeAdapterTypes, parse } from "parse5";

export interface Element {
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
  `script style template head svg math canvas object embed noembed noframes applet input select datalist textarea meter progress
  map area param source track link meta base title`.split(/\s+/),
);

/** The tags that begin a new block; the text of all others runs on. */
const blockTags = new Set(
  `address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4
  h5 h6 header hgroup hr iframe legend li main menu nav noscript ol p pre search section summary table tbody td tfoot th thead tr ul`.split(
    /\s+/,
  ),
);
/** Below, blocks count as text that runs on: pages are made that nest without end. */
const deepest = 200;

/** Parses a page, as browsers do without scripts. */
export function parsePage(html: string): { title: string; base: string | undefined; body: Element } {
  const document = parse(html, { scriptingEnabled: false });
  const root = document.childNodes.find((node) => node.nodeName === "html");
  const [head, body] = ["head", "body"].map((name) => childrenOf(root).find((node) => node.nodeName === name));
  const title = childrenOf(head).find((node) => node.nodeName === "title");
  const base = childrenOf(head).find((node) => node.nodeName === "base");
  return {
    title: childrenOf(title)
      .map((node) => ("value" in node ? node.value : ""))
      .join(""),
    base: base && "attrs" in base ? attributeOf(base, "href") : undefined,
    body: body && "attrs" in body ? elementOf(body, 0) : noBody,
  };
}

const noBody: Element = { tag: "body", attribute: () => undefined, children: [], holdsBlocks: true };

function childrenOf(node: DefaultTreeAdapterTypes.Node | undefined): DefaultTreeAdapterTypes.ChildNode[] {
  return node && "childNodes" in node ? node.childNodes : [];
}

function elementOf(node: DefaultTreeAdapterTypes.Element, depth: number): Element {
  let children: readonly Node[] | undefined;
  let holdsBlocks: boolean | undefined;
  const element: Element = {
    tag: node.tagName,
    attribute: (name) => attributeOf(node, name),
    get children() {
      children ??= node.childNodes.flatMap((child): Node[] => {
        if (child.nodeName === "#text" && "value" in child) return [child.value];
        return "attrs" in child && isShown(child) ? [elementOf(child, depth + 1)] : [];
      });
      return children;
    },
    get holdsBlocks() {
      holdsBlocks ??=
        depth < deepest &&
        (blockTags.has(element.tag) ||
          element.children.some((child) => typeof child !== "string" && child.holdsBlocks));
      return holdsBlocks;
    },
  };
  return element;
}

function isShown(node: DefaultTreeAdapterTypes.Element): boolean {
  if (unseen.has(node.tagName) || attributeOf(node, "hidden") !== undefined) return false;
  if (attributeOf(node, "aria-hidden") === "true") return false;
  if (node.tagName === "dialog" && attributeOf(node, "open") === undefined) return false;
  return !/(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attributeOf(node, "style") ?? "");
}

function attributeOf(node: DefaultTreeAdapterTypes.Element, name: string): string | undefined {
  return node.attrs.find((attribute) => attribute.name === name)?.value;
}

/** Returns all text below, as it stands, by a loop: elements may be nested without end. */
export function allText(nodes: readonly Node[]): string {
  const left: Node[] = nodes.toReversed();
  const texts: string[] = [];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (typeof node === "string") texts.push(node);
    else if (node.tag === "br") texts.push("\n");
    else for (const child of node.children.toReversed()) left.push(child);
  }
  return texts.join("");
}
