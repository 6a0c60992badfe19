import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { repository, root } from "./sources.mjs";

/**
 * Points links between Markdown files at the pages that they become, and links to other files at the repository. Throws for a link to
 * what does not exist.
 */
export function pointLinks(text, page, pages) {
  let inCode = false;
  return text
    .split("\n")
    .map((line) => {
      if (/^\s*```/.test(line)) inCode = !inCode;
      return inCode ? line : line.replace(/\]\(([^)\s]+)\)/g, (_, target) => `](${pointLink(target, page, pages)})`);
    })
    .join("\n");
}

function pointLink(target, page, pages) {
  if (/^(?:https?:|mailto:|#|\/)/.test(target)) return target;
  const [path = "", anchor] = target.split("#");
  const file = resolve(dirname(page.path), decodeURI(path));
  const found = pages.find((other) => other.path === file || other.path === `${file}/README.md`);
  if (found === undefined) {
    if (existsSync(file)) return `${repository}/blob/main/${relative(root, file)}`;
    throw new Error(`docs: ${relative(root, page.path)} links to ${target}, which does not exist`);
  }
  const address = found.id === "index" ? "/" : `/${found.id}/`;
  return anchor === undefined ? address : `${address}#${anchor}`;
}
