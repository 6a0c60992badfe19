// Which Markdown files are pages, and at which address. A file is read where it lies, so that no text is kept twice.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../../", import.meta.url));
const docs = join(root, "docs");

/** The address of the published repository. */
export const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** True if the packages are on the npm registry: a released package has a changelog. */
export const published = existsSync(join(root, "packages/core/CHANGELOG.md"));

/** Files of the repository that are pages too: path, and address without slashes at its ends. */
const elsewhere = {
  "SECURITY.md": "security",
  "CONTRIBUTING.md": "contributing",
  "RELEASING.md": "releasing",
  "bench/RESULTS.md": "benchmarks",
  "packages/policy/COMMANDS.md": "packages/policy-commands",
  "examples/README.md": "examples",
};

/** All pages: `{ id, path }`, the path absolute. The id of the landing page is `index`. */
export function listPages() {
  return [
    ...folderPages(join(docs, "src/content/docs"), ""),
    ...folderPages(join(docs, ".generated/reference"), "reference/"),
    ...Object.entries(elsewhere).map(([path, id]) => ({ id, path: join(root, path) })),
    ...readmes("packages"),
    ...readmes("examples"),
  ].filter(({ path }) => existsSync(path));
}

function folderPages(folder, prefix) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => ({ id: toId(prefix + name), path: join(folder, name) }));
}

function readmes(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder)).map((name) => ({
    id: `${folder}/${name}`.toLowerCase(),
    path: join(root, folder, name, "README.md"),
  }));
}

function toId(name) {
  const id = name.replaceAll("\\", "/").replace("@toolcrib/", "").replace(/\.md$/, "").toLowerCase();
  return id === "index" ? id : id.replace(/\/(?:index|readme)$/, "");
}
