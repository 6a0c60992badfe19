// The last step of a build: writes dist/manifest.json (or the file given) of the package in the current folder, where the package
// publishes one, from the tools that its built code makes with default options.
import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** By folder name: the tools that a package makes, given its exports. */
const toolsOf = {
  core: ({ createToolSearch }) => [createToolSearch({ listTools: () => [] })],
  "tools-fs": ({ createFsTools }) => createFsTools(),
  "tools-search": ({ createSearchTools }) => createSearchTools(),
  // The tools for background commands, which an option adds, too; `run_bash` as it is without that option.
  "tools-bash": ({ createBashTools }) => [...createBashTools(), ...createBashTools({ background: true }).slice(1)],
  agent: ({ createSaveSessionContextTool }) => [
    createSaveSessionContextTool({ systemPrompt: "", sessionContext: [], sessionContextFilePath: "session.json" }),
  ],
};

const folder = process.cwd();
const { name, exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
if (exports["./manifest.json"]) {
  const importBuilt = (...path) => import(pathToFileURL(join(...path)).href);
  const packages = resolve(dirname(fileURLToPath(import.meta.url)), "../packages");
  const { createManifest } = await importBuilt(packages, "core/dist/contracts.js");
  const tools = toolsOf[basename(folder)](await importBuilt(folder, "dist/index.js"));
  const manifest = createManifest(name, tools);
  writeFileSync(process.argv[2] ?? join(folder, "dist/manifest.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}
