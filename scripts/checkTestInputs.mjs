// Compares what the tests of each project loaded in their last run with the inputs that Nx keys their cached result by, and fails
// where a file is missing there: after a change of it the old result would be taken for the new one.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The files among `loaded` that no line of a plan of Nx (`PROJECT:GLOB,!GLOB`, or `workspace:[{workspaceRoot}/GLOB,…]`) takes in. */
export function missingInputs(loaded, plan) {
  const sets = plan.flatMap((line) => {
    const [, globs] =
      /^workspace:\[(.+)\]$/.exec(line) ??
      /^(?:@toolcrib\/)?[\w-]+:(.+\/.*)$/.exec(line) ??
      /^\{workspaceRoot\}\/(.+)$/.exec(line) ??
      [];
    return globs === undefined ? [] : [globs.replaceAll("{workspaceRoot}/", "").split(/,(?![^{]*\})/)];
  });
  return loaded.filter((file) => !sets.some((globs) => takesIn(globs, file)));
}

function takesIn(globs, file) {
  const [without, within] = [globs.filter((one) => one.startsWith("!")), globs.filter((one) => !one.startsWith("!"))];
  return within.some((glob) => matchesGlob(file, glob)) && !without.some((glob) => matchesGlob(file, glob.slice(1)));
}

/** Nx's plans of all tests, by task. */
function readPlans() {
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-plans-"));
  const file = join(folder, "graph.json");
  const words = ["run-many", "-t", "test", "--exclude=toolcrib-example-*", `--graph=${file}`];
  spawnSync(process.execPath, [join(root, "node_modules/nx/dist/bin/nx.js"), ...words], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  const { taskPlans } = JSON.parse(readFileSync(file, "utf8"));
  rmSync(folder, { recursive: true });
  return taskPlans;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [task, plan] of Object.entries(readPlans())) {
    const project = task.replace(/:test$/, "");
    const file = join(root, ".nx/tests", `${project}.json`);
    const { loaded } = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { loaded: [] };
    for (const missing of missingInputs(loaded, plan)) {
      console.error(
        `test inputs: the tests of ${project} use ${missing}, which is no input of theirs: name its package in devDependencies`,
      );
      process.exitCode = 1;
    }
  }
}
