// Package managers: each installs the tarballs by what the README says, and runs a program.

import { bunProgram, pnpm as pnpmProgram, yarnProgram } from "../programs.mjs";
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
  await run(folder, "npx", [...pnpmProgram, "install", "--ignore-scripts"]);
  await runScenario(folder, process.execPath, ["esm.mjs"]);
}

const yaml = (entries) =>
  Object.entries(entries)
    .map(([name, value]) => `  "${name}": "${value}"\n`)
    .join("");

const yarn = (linker) => async () => {
  const { file, env } = await yarnProgram();
  const folder = createProject(`yarn-${linker}`, {
    manifest: { type: "module", dependencies, resolutions: tarballs },
    files: {
      ...files,
      ".yarnrc.yml": `nodeLinker: ${linker}\nenableScripts: false\nenableTelemetry: false\n`,
      "yarn.lock": "",
    },
  });
  await run(folder, process.execPath, [file, "install"], { env });
  await runScenario(folder, process.execPath, [file, "node", "esm.mjs"], { env });
};

async function bun() {
  const { file, env } = await bunProgram();
  const folder = createProject("bun-install", {
    manifest: { type: "module", dependencies, overrides: tarballs },
    files,
  });
  await run(folder, file, ["install", "--ignore-scripts"], { env });
  await runScenario(folder, process.execPath, ["esm.mjs"]);
}

export const managers = [
  ["npm", npm],
  ["pnpm 12", pnpm, { short: true }],
  ["yarn 4, node-modules", yarn("node-modules")],
  ["yarn 4, Plug'n'Play", yarn("pnp"), { short: true }],
  ["bun install", bun],
];
