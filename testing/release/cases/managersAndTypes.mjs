// Each package manager installs by name from the registry; three compilers read the published types.
import assert from "node:assert/strict";
import { compilerOptions, compilers } from "../../consumers/cases/types.mjs";
import { bunProgram, pnpm as pnpmProgram, yarnProgram } from "../../consumers/programs.mjs";
import { run, write } from "../../consumers/project.mjs";
import { commonJsProgram, esProgram, runScenario } from "../../consumers/scenario.mjs";
import { firstRelease, registry } from "../story.mjs";
import { newUser } from "../user.mjs";

const wanted = ["agent", "core", "defaults", "tools-fs", "tools-search"].map((name) => `@toolcrib/${name}`);
const programs = { "esm.mjs": esProgram, "common.cjs": commonJsProgram };

async function userOf(manager, files = {}) {
  await firstRelease();
  return await newUser(`manager-${manager}`, { files: { ...programs, ...files } });
}

/** Both kinds of program, and the range that the manager wrote. */
async function check(user, command, args, env) {
  const checkout = await firstRelease();
  const { version } = checkout.packages()["@toolcrib/core"];
  assert.equal(user.rangeOf("@toolcrib/core"), `^${version}`);
  for (const file of Object.keys(programs)) await runScenario(user.folder, command, [...args, file], { env });
}

async function npm() {
  const user = await userOf("npm");
  await user.install(...wanted);
  await check(user, process.execPath, []);
}

async function pnpm() {
  // pnpm and yarn wait a day before they take a version, unless told otherwise.
  const user = await userOf("pnpm", { "pnpm-workspace.yaml": 'minimumReleaseAgeExclude: ["@toolcrib/*"]\n' });
  await run(user.folder, "npx", [...pnpmProgram, "add", "--ignore-scripts", ...wanted]);
  await check(user, process.execPath, []);
}

const yarn = (linker) => async () => {
  const { file, env } = await yarnProgram();
  const { url } = await registry();
  const settings = `nodeLinker: ${linker}
enableScripts: false
enableTelemetry: false
npmPreapprovedPackages: ["@toolcrib/*"]
npmScopes: { toolcrib: { npmRegistryServer: "${url}" } }
`;
  const user = await userOf(`yarn-${linker}`, { ".yarnrc.yml": settings, "yarn.lock": "" });
  await run(user.folder, process.execPath, [file, "add", ...wanted], { env });
  await check(user, process.execPath, [file, "node"], env);
};

async function bun() {
  const { file, env } = await bunProgram();
  const user = await userOf("bun");
  await run(user.folder, file, ["add", "--ignore-scripts", ...wanted], {
    env: { ...env, BUN_INSTALL_CACHE_DIR: `${user.folder}/cache` },
  });
  await check(user, process.execPath, []);
}

/** A program over the faces of the packages that need neither types of Node nor an SDK. */
const bareProgram = `import { defineTool, toMcpTool, ToolRegistry } from "@toolcrib/core";
import { createDefaultToolRegistry } from "@toolcrib/defaults";
import { Agent } from "@toolcrib/agent";
import { OfflineProvider } from "@toolcrib/agent/offline";
import { OpenDirectory, openRegularFile, type WriteResult } from "@toolcrib/kit/files";
import { testTool } from "@toolcrib/core/testing";
import { clip } from "@toolcrib/core/text";
import { createFsTools } from "@toolcrib/tools-fs";
import { createSearchTools } from "@toolcrib/tools-search";
import { createBashTools } from "@toolcrib/tools-bash";
import { createPolicy } from "@toolcrib/policy";
import { readShellLine } from "@toolcrib/policy/shell";

const registry = new ToolRegistry([...createFsTools({ root: "." }), ...createSearchTools({ root: "." }), ...createBashTools()]);
export const core = [OpenDirectory, openRegularFile, testTool, clip];
export const written = ({ bytes }: WriteResult): number => bytes;
export const policy = [registry.guard(createPolicy({ roots: "." }).guard), readShellLine("ls").commands];
export const mcp = registry.getEnabledSchemas().map(toMcpTool);
export const agent = new Agent(new OfflineProvider(), { tools: createDefaultToolRegistry(undefined, { root: "." }) });
registry.register(defineTool({ name: "a", description: "b", parameters: { type: "object", properties: {} }, execute: () => "c" }));
`;
const barePackages = "core kit tools-fs tools-search tools-bash agent policy defaults"
  .split(" ")
  .map((name) => `@toolcrib/${name}`);

const compile = (compiler, resolution) => async () => {
  await firstRelease();
  const user = await newUser(`types-${compiler}-${resolution}`, { files: { "main.ts": bareProgram } });
  await user.install(...barePackages, `${compiler}@${compilers[compiler]}`);
  const options = compilerOptions(resolution, { skipLibCheck: false });
  write(user.folder, { "tsconfig.json": JSON.stringify({ ...options, include: ["main.ts"] }) });
  await run(user.folder, process.execPath, [`node_modules/${compiler}/bin/tsc`, "-p", "tsconfig.json"]);
};

export const managersAndTypes = [
  ["npm install", npm],
  ["pnpm add", pnpm, { short: true }],
  ["yarn add, node-modules", yarn("node-modules")],
  ["yarn add, Plug'n'Play", yarn("pnp"), { short: true }],
  ["bun add", bun],
  ...Object.keys(compilers).flatMap((compiler) =>
    ["nodenext", "bundler"].map((resolution) => [
      `types of the published files, ${compiler}, ${resolution}`,
      compile(compiler, resolution),
      { short: compiler === "ts70" && resolution === "nodenext" },
    ]),
  ),
];
