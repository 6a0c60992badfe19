// Every tool of every pack, as a program gets it from the built packages.
const load = (name) => import(`../../../packages/${name}/dist/index.js`);

export async function allTools() {
  const [fs, search, bash, agent] = await Promise.all(["tools-fs", "tools-search", "tools-bash", "agent"].map(load));
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: ".toolcrib/session.json" };
  return [
    ...fs.createFsTools(),
    ...search.createSearchTools(),
    ...bash.createBashTools({ background: true }),
    agent.createSaveSessionContextTool(context),
  ];
}

/** Which of them `createDefaultToolRegistry()` registers, and which are enabled there. */
export async function defaultTools() {
  const { createDefaultToolRegistry } = await load("defaults");
  const registry = createDefaultToolRegistry(undefined, { bash: { background: true } });
  return {
    registered: registry.getToolNames(),
    enabled: registry.getEnabledSchemas().map((schema) => schema.function.name),
  };
}
