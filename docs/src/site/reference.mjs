// Writes the API reference, a page for each published subpath, to `.generated/reference`, unless the types are those of the last time.
import { createHash } from "node:crypto";
import { existsSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./sources.mjs";

const packages = join(root, "packages");
const output = join(root, "docs/.generated/reference");
const stamp = join(output, "stamp");

/** The published subpaths: the name under which each is imported, and the file of its types. */
function listSubpaths() {
  return readdirSync(packages).flatMap((folder) => {
    const manifest = join(packages, folder, "package.json");
    if (!existsSync(manifest)) return [];
    const { name, exports } = JSON.parse(readFileSync(manifest, "utf8"));
    return Object.entries(exports).flatMap(([subpath, { types }]) =>
      types === undefined ? [] : [{ name: name + subpath.slice(1), path: join(packages, folder, types) }],
    );
  });
}

function digest() {
  const hash = createHash("sha256").update(readFileSync(fileURLToPath(import.meta.url)));
  for (const file of globSync("*/dist/**/*.d.ts", { cwd: packages }).sort()) {
    hash.update(file).update(readFileSync(join(packages, file)));
  }
  return hash.digest("hex");
}

async function writeReference() {
  // Loaded only where there is something to write.
  const { Application } = await import("typedoc");
  const subpaths = listSubpaths();
  const app = await Application.bootstrapWithPlugins({
    plugin: ["typedoc-plugin-markdown"],
    entryPoints: subpaths.map(({ path }) => path),
    tsconfig: join(root, "docs/typedoc.tsconfig.json"),
    outputs: [{ name: "markdown", path: output }],
    router: "module",
    readme: "none",
    name: "API reference",
    disableSources: true,
    excludePrivate: true,
    excludeExternals: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    entryFileName: "index",
    parametersFormat: "table",
    useHTMLAnchors: true,
    expandObjects: true,
    logLevel: "Warn",
    validation: { notExported: false, invalidLink: true, invalidPath: true },
  });
  const project = await app.convert();
  if (project === undefined || app.logger.hasErrors()) throw new Error("docs: the API reference could not be made");
  const fileOf = ({ path }) => relative(packages, path).replaceAll("\\", "/");
  for (const module of project.children ?? []) {
    const found = subpaths.find((one) => [`${module.name}.d.ts`, `${module.name}/index.d.ts`].includes(fileOf(one)));
    if (found === undefined) throw new Error(`docs: no subpath is ${module.name}`);
    module.name = found.name;
  }
  rmSync(output, { recursive: true, force: true });
  await app.generateOutputs(project);
  writeFileSync(stamp, digest());
}

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== digest()) await writeReference();
