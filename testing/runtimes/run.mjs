// `npm run test:runtimes`: the conformance suites of all packs on Bun, Deno and three versions of Node, with the packed packages. `-- NAME …` runs
// the runtimes whose name contains one of the words, `-- --short` Bun and Deno alone. TOOLCRIB_KEEP=1 keeps the project.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { nodeBinary, nodeVersions, run } from "../consumers/project.mjs";
import { runCases } from "../consumers/runCases.mjs";
import { npmProject } from "../consumers/tarballs.mjs";

/** The versions of Bun and Deno that the packages are tried on, and where npm puts their programs. */
const otherRuntimes = { bun: "1.4.5", deno: "2.9.6" };
const otherPrograms = { bun: "@oven/bun-linux-x64/bin/bun", deno: "@deno/linux-x64-glibc/deno" };
const program = new URL("program/", import.meta.url);
const packages = "core kit tools-fs tools-search tools-bash tools-web agent mcp skills defaults".split(" ");

let installed;
function project() {
  const files = Object.fromEntries(
    readdirSync(program).map((name) => [name, readFileSync(new URL(name, program), "utf8")]),
  );
  installed ??= npmProject("runtimes", {
    packages: packages.map((name) => `@toolcrib/${name}`),
    dependencies: { ...otherRuntimes, openai: "^7.57.0" },
    files: { ...files, "deno.json": '{ "nodeModulesDir": "manual" }' },
  });
  return installed;
}

/** Runs all parts by this program, and tells each test that failed. */
const suites =
  (binary, words = []) =>
  async () => {
    const folder = await project();
    const { stdout } = await run(folder, await binary(folder), [...words, "main.mjs"], {
      env: { DENO_NO_UPDATE_CHECK: "1" },
    });
    const lines = stdout.split("\n").filter((line) => line !== "");
    const failed = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    if (failed.length > 0) throw new Error(failed.map(({ test, error }) => `${test}\n${error}`).join("\n"));
    const counts = lines.find((line) => line.startsWith("COUNTS"));
    if (counts === undefined) throw new Error(`it did not come to its end:\n${stdout.slice(-2000)}`);
    const parts = Object.entries(JSON.parse(counts.slice("COUNTS".length)));
    return parts.map(([part, { passed }]) => `${part} ${passed}`).join(", ");
  };

const installedProgram = (name) => (folder) => join(folder, "node_modules", otherPrograms[name]);
const node = (version) => suites(() => nodeBinary(version));

await runCases([
  [`bun ${otherRuntimes.bun}`, suites(installedProgram("bun")), { short: true }],
  [
    `deno ${otherRuntimes.deno}`,
    suites(installedProgram("deno"), ["run", "--allow-all", "--no-lock"]),
    { short: true },
  ],
  ...Object.values(nodeVersions).map((version) => [`node ${version}`, node(version)]),
]);
