// An executor of Nx: hands the projects whose tests have no cached result to one vitest, since each start of it costs seconds. Nx caches
// the result of each project by itself. The counts are written by `testResults.ts`, and are what the cache keeps.
const { spawn } = require("node:child_process");
const { existsSync, readFileSync, rmSync } = require("node:fs");
const { join } = require("node:path");

exports.batch = async (graph, _inputs, _overrides, { root }) => {
  const tasks = Object.values(graph.tasks);
  const fileOf = (project) => join(root, ".nx/tests", `${project}.json`);
  // Left by a run that was ended.
  rmSync(join(root, ".nx/reads"), { recursive: true, force: true });
  for (const { target } of tasks) rmSync(fileOf(target.project), { force: true });
  await runVitest(
    root,
    tasks.map(({ target }) => target.project),
  );
  return Object.fromEntries(
    tasks.map(({ id, target: { project } }) => {
      const file = fileOf(project);
      // Without a file vitest did not come to its end.
      const counts = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
      const words = counts ? `${counts.passed} passed, ${counts.failed} failed` : "no result";
      return [id, { success: counts?.failed === 0, terminalOutput: `${project}: ${words}\n` }];
    }),
  );
};

exports.one = async (_options, { root, projectName, target }) => {
  const id = `${projectName}:test`;
  const results = await exports.batch(
    { tasks: { [id]: { id, target: { project: projectName, target } } } },
    {},
    {},
    { root },
  );
  return { success: results[id].success };
};

/** Resolves once vitest has ended, with whatever code: the files of results tell. */
function runVitest(root, projects) {
  const words = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--config", join(__dirname, "vitest.config.ts")];
  // Nx asks every program below it for colours, which tests that look at what a program prints do not expect.
  const { FORCE_COLOR, ...env } = process.env;
  env.TOOLCRIB_NX_PROJECTS = projects.join(" ");
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] });
    child.once("error", reject);
    child.once("close", resolve);
  });
}
