// Prints which of the long checks have to run, one a line: those whose inputs differ from the last commit on which all of them passed,
// whose id .ci/last-full holds. Without such a commit before HEAD, or with TOOLCRIB_ALL=1, all of them.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, matchesGlob, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The files that build, pack and install every package. */
const packing = [
  ...["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "tsconfig.base.json", "tsup.base.ts", ".ci/run"],
  ...["packages/*/{package.json,tsconfig.json,tsup.config.ts}", "scripts/{packAll,packOnce,runPnpm,changedInputs}.mjs"],
];
/** The files that users import: faces and their types. Their behaviour is tested without an install. */
const faces = ["packages/*/src/*.ts", "packages/*/api/**", "packages/*/README.md", "README.md"];

/** The inputs of each check. Tests are no input. */
export const inputs = {
  consumers: [
    ...packing,
    ...faces,
    // Found by path when they run: what bundlers and other loaders get wrong.
    ...["packages/**/*Worker.ts", "packages/*/src/**/threads/**", "packages/cli/templates/**", "examples/**"],
    "testing/consumers/**",
  ],
  release: [
    ...packing,
    ...["packages/*/src/*.ts", ".changeset/**", "scripts/release/**", "testing/release/**", "testing/src/wire*.ts"],
    ...["packages/*/api/**", "testing/consumers/*.mjs", "testing/consumers/cases/types.mjs"],
  ],
  docs: [
    ...faces,
    ...["*.md", "docs/**", "examples/**/README.md", "bench/{RESULTS.md,peers.mjs,results.mjs}", "package.json"],
    ...["packages/policy/COMMANDS.md", "packages/agent/src/{models,transcript}/**", ".ci/run"],
    ...["packages/agent/src/providers/models/**", "scripts/changedInputs.mjs"],
  ],
  runtimes: [
    ...packing,
    "packages/*/src/*.ts",
    ...["testing/runtimes/**", "testing/consumers/*.mjs", "packages/tools-bash/src/process/**"],
    ...["packages/**/*Worker.ts", "packages/*/src/**/threads/**"],
  ],
  windows: [
    ...packing,
    ...["testing/windows/**", "testing/runtimes/program/registry.mjs"],
    // Where Windows differs.
    "packages/{kit,tools-fs,tools-bash,tools-search}/src/**",
    ...["packages/mcp/src/client/transport/**", "packages/cli/src/{state,config}/**", "packages/policy/src/judge/**"],
  ],
};

/** The checks with an input among these paths of the repository. */
export function checksFor(paths) {
  const counted = paths.filter((path) => !/\.test(?:-d)?\.ts$/.test(path));
  return Object.keys(inputs).filter((check) =>
    counted.some((path) => inputs[check].some((pattern) => matchesGlob(path, pattern))),
  );
}

/** The checks that have to run in this checkout. */
export function checksToRun(root) {
  const git = (...args) => spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 });
  const file = join(root, ".ci/last-full");
  const id = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  const isKnown = /^[0-9a-f]{40}$/.test(id) && git("merge-base", "--is-ancestor", id, "HEAD").status === 0;
  if (process.env.TOOLCRIB_ALL === "1" || !isKnown) return Object.keys(inputs);
  const changed = git("diff", "--name-only", "--no-renames", "-z", id);
  const added = git("ls-files", "--others", "--exclude-standard", "-z");
  if (changed.status !== 0 || added.status !== 0) return Object.keys(inputs);
  return checksFor(`${changed.stdout}${added.stdout}`.split("\0"));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  for (const check of checksToRun(resolve(process.argv[2] ?? root))) console.log(check);
}
