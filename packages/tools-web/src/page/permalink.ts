// Links of a heading to itself: a pilcrow, a hash, an icon or words such as "Permalink".
import type { DefaultTreeAdapterTypes } from "parse5";
import { attributeOf } from "./formula.ts";

type Element = DefaultTreeAdapterTypes.Element;

/** Signs that say nothing else wherever they stand: also zero-width characters, and those of icon fonts. */
const signsAlone = /^(?:[\s¶§#🔗⚓\p{Cf}\p{Co}]|\ufe0f)+$/u;
/** Words that say it in a heading; other signs do as well. */
const words =
  /^\P{L}*(?:(?:copy |direct |perma(?:nent )?)?link(?:$|\P{L}+(?:to|for)\P{L})|(?:header |section )?anchor\P{L}*$|section titled\P{L})/iu;
/** Most elements between a heading and its link, and most nodes that are read of either. */
const mostLevels = 4;
const mostNodes = 60;

/** Returns whether an element is a link to a place of a page that only marks the place. */
export function isPermalink(node: Element): boolean {
  if (node.tagName !== "a" || !attributeOf(node, "href")?.includes("#")) return false;
  const text = shortText(node)?.trim();
  if (!text) return false;
  if (signsAlone.test(text)) return true;
  if (!words.test(text) && /[\p{L}\p{N}]/u.test(text)) return false;
  const heading = headingOf(node);
  return heading !== undefined && shortText(heading)?.trim() !== text;
}

function headingOf(node: Element): Element | undefined {
  let above = node.parentNode;
  for (let level = 0; above && "tagName" in above && level < mostLevels; level++, above = above.parentNode) {
    if (/^(?:h[1-6]|dt|legend|caption|figcaption)$/.test(above.tagName)) return above;
  }
  return undefined;
}

/** Returns the text of an element; undefined for a long one. */
function shortText(root: Element): string | undefined {
  let text = "";
  const left: DefaultTreeAdapterTypes.ChildNode[] = [root];
  for (let read = 0; left.length > 0; read++) {
    const node = left.pop();
    if (read === mostNodes || text.length > 200) return undefined;
    if (node && "value" in node) text += node.value;
    if (node && "childNodes" in node) {
      if (node.childNodes.length > mostNodes) return undefined;
      left.push(...node.childNodes.toReversed());
    }
  }
  return text;
}
