// The last step of a build: writes dist/manifest.json of each package with tools, from those that its built code makes with default
// options. With a FOLDER the files are FOLDER/NAME.json.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A folder with one skill: without any there is no tool. */
const exampleSkills = fileURLToPath(new URL("../packages/skills/fixtures", import.meta.url));

/** A registry without tools, as far as a tool is made from it. */
const noTools = { getToolNames: () => [] };

/** By folder name: the tools that a package makes, given its exports. */
const toolsOf = {
  core: ({ createToolSearch }) => [createToolSearch({ listTools: () => [] })],
  "tools-fs": ({ createFsTools }) => createFsTools(),
  "tools-search": ({ createSearchTools }) => createSearchTools(),
  // The tools for background commands, which options add, too; `run_bash` as it is without these.
  "tools-bash": ({ createBashTools }) => [
    ...createBashTools(),
    ...createBashTools({ background: true, input: true }).slice(1),
  ],
  "tools-web": ({ createWebTools }) => createWebTools(),
  // Without any tool that a program could call: what the description says of those is theirs.
  "tools-program": ({ createProgramTools }) => createProgramTools(noTools),
  skills: ({ createSkills }) => createSkills({ folders: [exampleSkills] }).tools,
  agent: ({ createSaveSessionContextTool, createAskUserTool }) => [
    createSaveSessionContextTool({ systemPrompt: "", sessionContext: [], sessionContextFilePath: "session.json" }),
    createAskUserTool(),
  ],
};

const packages = fileURLToPath(new URL("../packages", import.meta.url));
const importBuilt = (name) => import(pathToFileURL(join(packages, name, "dist/index.js")).href);
const [folder] = process.argv.slice(2);
const { createManifest } = await importBuilt("contracts");
for (const [name, make] of Object.entries(toolsOf)) {
  const manifest = createManifest(`@toolcrib/${name}`, make(await importBuilt(name)));
  const file = folder ? join(folder, `${name}.json`) : join(packages, name, "dist/manifest.json");
  const text = `${JSON.stringify(manifest, undefined, 2)}\n`;
  // Others may read or pack it at this moment.
  if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}
