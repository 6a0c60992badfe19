import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSaveSessionContextTool } from "../packages/agent/src/index.ts";
import { ToolRegistry } from "../packages/core/src/index.ts";
import { createSkills } from "../packages/skills/src/index.ts";
import { createBashTools } from "../packages/tools-bash/src/index.ts";
import { createFsTools } from "../packages/tools-fs/src/index.ts";
import { createProgramTools } from "../packages/tools-program/src/index.ts";
import { createSearchTools } from "../packages/tools-search/src/index.ts";
import { createWebTools } from "../packages/tools-web/src/index.ts";

export const workspace = fileURLToPath(new URL("../", import.meta.url));
export const folder = fileURLToPath(new URL("src/content/docs/", import.meta.url));
/** The pages of the site. */
export const pages = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .sort()
  .map((name) => join(folder, name));

/** Stands for the services beside the programs of the pages about loops, as their overview says. */
const [, mock = ""] =
  /^```ts title=mock\.ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(folder, "loops/index.md"), "utf8")) ?? [];

/** Every tool there is, confined to the folder of a page. */
export function createRegistry(root: string): ToolRegistry {
  if (basename(dirname(root)) === "loops") writeFileSync(join(root, "mock.ts"), mock);
  const context = {
    systemPrompt: "",
    sessionContext: [{ role: "user", content: "Save this." }],
    sessionContextFilePath: ".toolcrib/session.json",
  };
  const registry = new ToolRegistry([
    ...createFsTools({ root }),
    ...createSearchTools({ root }),
    ...createBashTools({ cwd: root, background: true, input: true }),
    ...createWebTools(),
    ...createSkills({ folders: [join(workspace, "packages/skills/fixtures")] }).tools,
    createSaveSessionContextTool(context),
  ]);
  registry.register(...createProgramTools(registry));
  return registry;
}

/** READMEs are pages, too. */
export const readmes = ["packages", "examples"]
  .flatMap((name) => readdirSync(join(workspace, name)).map((inner) => join(workspace, name, inner, "README.md")))
  .concat(join(workspace, "README.md"))
  .filter((path) => existsSync(path));

/** Their programs are run by the tests of the packages, some of them with a server or a sandbox. */
export const testedByPackages = new Set(
  [
    ...["guides/rules", "guides/sandbox", "guides/durable", "guides/durable-database", "loops/plain"],
    ...["tools/files", "tools/searching", "tools/commands"],
  ].map((id) => join(folder, `${id}.md`)),
);
