// Loads every page of the site: points links at the site, renders.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { shown as withoutComments } from "./generated.mjs";
import { installTabs } from "./installTabs.mjs";
import { labelCells } from "./labelCells.mjs";
import { pointLinks } from "./links.mjs";
import { moduleLead, moduleList } from "./modules.mjs";
import { listPages } from "./sources.mjs";

/** The Markdown of a page as the site shows it, with its frontmatter. */
export function readPage(page, pages) {
  const text = withLead(page, metFirst(page, withTitle(readFileSync(page.path, "utf8")))) + programOf(page);
  return pointLinks(quoteTitles(withoutComments(text)), page, pages);
}

export function pagesLoader() {
  return {
    name: "toolcrib-pages",
    load: async ({ store, parseData, renderMarkdown }) => {
      store.clear();
      const pages = listPages();
      for (const page of pages) {
        const text = readPage(page, pages);
        const shown = installTabs(text, page.id);
        const rendered = await renderMarkdown(shown, { fileURL: pathToFileURL(page.path) });
        rendered.html = weighed(page.id, leadOf(page.id, rendered.metadata.frontmatter) + labelCells(rendered.html));
        const data = await parseData({ id: page.id, data: rendered.metadata.frontmatter, filePath: page.path });
        const body = text.replace(/^---\n[\s\S]*?\n---\n/, "");
        store.set({ id: page.id, data, body, rendered, filePath: `src/content/docs/${page.id}.md` });
      }
    },
  };
}

/** The description of a page, as its first sentence. The start page says what it is in its own words. */
function leadOf(id, { description }) {
  return description === undefined || id === "index" ? "" : `<p class="lead">${withCode(description)}</p>\n`;
}

function withCode(text) {
  return text.replaceAll("<", "&lt;").replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** In the search, guides stand above the members of the reference, but a main export finds the page of its module. */
function weighed(id, html) {
  if (!id.startsWith("reference")) return html;
  const members = html.indexOf("<h2");
  const [lead, rest] = members === -1 ? [html, ""] : [html.slice(0, members), html.slice(members)];
  return `<div data-pagefind-weight="10">\n${lead}\n</div>\n<div data-pagefind-weight="0.5">\n${rest}\n</div>`;
}

/** A page of the reference begins with what its module is for; their list has a sentence for each. */
function withLead({ id }, text) {
  if (!id.startsWith("reference")) return text;
  if (id === "reference") {
    const names = [...text.matchAll(/^- \[(@toolcrib\/[\w/-]+)\]/gm)].map(([, name]) => name);
    return text.replace(/^## Modules\n\n(?:- .*\n?)+/m, `${moduleList(names)}\n`);
  }
  const lead = moduleLead(`@toolcrib/${id.slice("reference/".length)}`);
  return text.replace(/^---\n[\s\S]*?\n---\n/, (frontmatter) => `${frontmatter}\n${lead}\n\n`);
}

/** On the page of the benchmarks the goals that were met come first, then the rows without a goal, then those that were missed. */
function metFirst({ id }, text) {
  if (id !== "benchmarks") return text;
  const rank = (row) => ["| met |", "|  |", "| missed |"].findIndex((end) => row.endsWith(end));
  return text.replace(/(?<=^\| --- \| --- \| --- \| --- \|\n)(?:\|.*\n)+/m, (rows) =>
    rows
      .trimEnd()
      .split("\n")
      .sort((a, b) => rank(a) - rank(b))
      .concat("")
      .join("\n"),
  );
}

/** The files of an example, below what its README says. */
function programOf({ id, path }) {
  if (!id.startsWith("examples/")) return "";
  const folder = dirname(path);
  const files = readdirSync(folder).filter((name) => /\.(?:ts|html)$/.test(name));
  const blocks = ["main.ts", ...files.filter((name) => name !== "main.ts")].map((name) => {
    const code = readFileSync(join(folder, name), "utf8").trimEnd();
    return `\`\`\`${name.split(".").at(-1)} title=${name}\n${code}\n\`\`\`\n`;
  });
  return `\n## The program and its test\n\n${blocks.join("\n")}`;
}

/** A file of the repository has no frontmatter: its first heading is the title. */
function withTitle(text) {
  if (text.startsWith("---\n")) return text;
  const [, title] = /^# (.+)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`docs: a page needs a title: ${text.slice(0, 80)}`);
  return `---\ntitle: ${JSON.stringify(title)}\n---\n${text.replace(/^# .+\n/m, "")}`;
}

/** READMEs write `title=NAME`, the site's code blocks `title="NAME"`. */
function quoteTitles(text) {
  return text.replace(/^(```\w+ title=)([^"\s]+)/gm, '$1"$2"');
}
