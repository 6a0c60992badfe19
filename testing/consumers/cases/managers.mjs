// Package managers: each installs the tarballs by what the README says, and runs a program.
import { join } from "node:path";
import { createProject, npmInstall, run } from "../project.mjs";
import { esProgram, runScenario } from "../scenario.mjs";
import { tarballs } from "../tarballs.mjs";

const files = { "esm.mjs": esProgram };
const dependencies = tarballs;

async function npm() {
  const folder = createProject("npm", { manifest: { type: "module", dependencies }, files });
  await npmInstall(folder);
  await runScenario(folder, process.execPath, ["esm.mjs"]);
}

async function pnpm() {
  const folder = createProject("pnpm", {
    manifest: { type: "module", dependencies },
    files: { ...files, "pnpm-workspace.yaml": `overrides:\n${yaml(tarballs)}` },
  });
  await run(folder, "npx", ["-y", "pnpm@12.21.0", "install", "--ignore-scripts"]);
  await runScenario(folder, process.execPath, ["esm.mjs"]);
}

const yaml = (entries) =>
  Object.entries(entries)
    .map(([name, value]) => `  "${name}": "${value}"\n`)
    .join("");

const yarn = (linker) => async () => {
  const tool = createProject(`yarn-${linker}-itself`, {
    manifest: { dependencies: { "@yarnpkg/cli-dist": "4.18.1" } },
  });
  await npmInstall(tool);
  const bin = join(tool, "node_modules/@yarnpkg/cli-dist/bin/yarn.js");
  const folder = createProject(`yarn-${linker}`, {
    manifest: { type: "module", dependencies, resolutions: tarballs },
    files: {
      ...files,
      ".yarnrc.yml": `nodeLinker: ${linker}\nenableScripts: false\nenableTelemetry: false\n`,
      "yarn.lock": "",
    },
  });
  const { stdout } = await run(folder, "npm", ["config", "get", "registry"]);
  const env = {
    YARN_NPM_REGISTRY_SERVER: stdout.trim(),
    YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
    YARN_UNSAFE_HTTP_WHITELIST: "*",
  };
  await run(folder, process.execPath, [bin, "install"], { env });
  await runScenario(folder, process.execPath, [bin, "node", "esm.mjs"], { env });
};

async function bun() {
  const tool = createProject("bun-itself", { manifest: { dependencies: { bun: "1.4.5" } } });
  await npmInstall(tool);
  const folder = createProject("bun-install", {
    manifest: { type: "module", dependencies, overrides: tarballs },
    files,
  });
  const { stdout } = await run(folder, "npm", ["config", "get", "registry"]);
  const env = { BUN_CONFIG_REGISTRY: stdout.trim() };
  await run(folder, join(tool, "node_modules/@oven/bun-linux-x64/bin/bun"), ["install", "--ignore-scripts"], { env });
  await runScenario(folder, process.execPath, ["esm.mjs"]);
}

export const managers = [
  ["npm", npm],
  ["pnpm 12", pnpm, { short: true }],
  ["yarn 4, node-modules", yarn("node-modules")],
  ["yarn 4, Plug'n'Play", yarn("pnp"), { short: true }],
  ["bun install", bun],
];
