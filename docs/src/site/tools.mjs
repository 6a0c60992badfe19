// Every tool of every pack, as a program gets it from the built packages.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.mjs";

const load = (name) => import(`../../../packages/${name}/dist/index.js`);

export async function allTools() {
  const packages = ["tools-fs", "tools-search", "tools-bash", "tools-web", "tools-program", "skills", "agent"];
  const [fs, search, bash, web, program, skills, agent] = await Promise.all(packages.map(load));
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: ".toolcrib/session.json" };
  return [
    ...fs.createFsTools(),
    ...search.createSearchTools(),
    ...bash.createBashTools({ background: true, input: true }),
    ...web.createWebTools(),
    ...program.createProgramTools({ getToolNames: () => [] }),
    ...skills.createSkills({ folders: [join(root, "packages/skills/fixtures")] }).tools,
    agent.createSaveSessionContextTool(context),
    agent.createAskUserTool(),
  ];
}

/** The tools that `createDefaultToolRegistry()` registers, and those that it enables. */
export async function defaultTools() {
  const { createDefaultToolRegistry } = await load("defaults");
  const registry = createDefaultToolRegistry(undefined, { bash: { background: true, input: true } });
  return {
    registered: registry.getToolNames(),
    enabled: registry.getEnabledSchemas().map((schema) => schema.function.name),
  };
}

/** Estimated tokens of a tool's schema, from the manifest of its package. */
export function estimatedTokens({ origin, name }) {
  const manifest = join(root, "packages", origin.replace("@toolcrib/", ""), "dist/manifest.json");
  return JSON.parse(readFileSync(manifest, "utf8")).tools.find((tool) => tool.name === name).tokens;
}
