// Writes the site for programs (https://llmstxt.org): llms.txt names the pages, llms-full.txt holds their text.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readPage } from "./pagesLoader.mjs";
import { menuPages } from "./sidebar.mjs";
import { listPages, root } from "./sources.mjs";

const output = join(root, "docs/dist");
const pages = listPages();
const index = [
  "# toolcrib\n",
  "> File, search and shell tools for the agent you already have, as small TypeScript packages.\n",
  "The text of all pages but the API reference: [llms-full.txt](/llms-full.txt)\n",
];
const full = [];

const headings = new Set(menuPages().map(({ heading }) => heading));
for (const heading of headings) {
  const lines = [];
  for (const { id } of menuPages().filter((page) => page.heading === heading)) {
    const text = readPage(
      pages.find((page) => page.id === id),
      pages,
    );
    const [, frontmatter = "", body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
    const title = fieldOf(frontmatter, "title");
    const description = fieldOf(frontmatter, "description");
    lines.push(`- [${title}](/${id}/)${description === "" ? "" : `: ${description}`}`);
    if (!id.startsWith("reference")) full.push(`# ${title}\n\n${body.trim()}\n`);
  }
  index.push(`## ${heading}\n\n${lines.join("\n")}\n`);
}
writeFileSync(join(output, "llms.txt"), index.join("\n"));
writeFileSync(join(output, "llms-full.txt"), full.join("\n"));

function fieldOf(frontmatter, name) {
  const [, value = ""] = new RegExp(`^${name}: (.*)$`, "m").exec(frontmatter) ?? [];
  return value.startsWith('"') ? JSON.parse(value) : value;
}
