import { globSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildSync } from "esbuild";
import { sourceAlias } from "./sourceAlias.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "node_modules/.cache/toolcrib");
let isBuilt = false;

/** A plugin: threads that tests start run one file, built from the sources. To read these one by one takes a thread four times as long. */
export const threadWorkers = {
  name: "toolcrib-thread-workers",
  buildStart(): void {
    if (!isBuilt) for (const source of globSync("packages/*/src/**/*Worker.ts", { cwd: root })) build(source);
    isBuilt = true;
  },
  transform: {
    filter: { id: /Thread\.ts$/ },
    handler: (code: string): string =>
      code.replace(
        /new URL\("[./]+(?:\w+\/)*(\w+Worker)\.ts", import\.meta\.url\)/g,
        (_, name) => `new URL(${JSON.stringify(pathToFileURL(join(folder, `${name}.mjs`)))})`,
      ),
  },
};

function build(source: string): void {
  const name = basename(source, ".ts");
  const own = join(folder, `${name}.${process.pid}.mjs`);
  const { outputFiles } = buildSync({
    entryPoints: [join(root, source)],
    // Of every published subpath its source.
    alias: Object.fromEntries(
      sourceAlias.flatMap(({ find, replacement }) =>
        replacement.includes("$") ? [] : [[find.source.slice(1, -1).replaceAll("\\", ""), replacement]],
      ),
    ),
    ...{ bundle: true, minify: true, write: false, format: "esm", platform: "node", target: "node22" },
    banner: { js: "const require = process.getBuiltinModule;" },
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(own, outputFiles[0]?.contents ?? "");
  // Another run may read it now.
  renameSync(own, join(folder, `${name}.mjs`));
}
