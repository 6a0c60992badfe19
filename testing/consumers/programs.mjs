// Programs of others that install or run the packages, from the npm packages that hold them.
import { join } from "node:path";
import { createProject, npmInstall, run } from "./project.mjs";

/** The file of yarn, to be run by Node, and the settings that make it use this machine's registry. */
export async function yarnProgram() {
  const folder = await programFolder("yarn", { "@yarnpkg/cli-dist": "4.18.1" });
  const { stdout } = await run(folder, "npm", ["config", "get", "registry"]);
  const env = {
    YARN_NPM_REGISTRY_SERVER: stdout.trim(),
    YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
    YARN_UNSAFE_HTTP_WHITELIST: "*",
  };
  return { file: join(folder, "node_modules/@yarnpkg/cli-dist/bin/yarn.js"), env };
}

/** Bun, which is a program of its own. */
export async function bunProgram() {
  const folder = await programFolder("bun", { bun: "1.4.5" });
  const { stdout } = await run(folder, "npm", ["config", "get", "registry"]);
  return {
    file: join(folder, "node_modules/@oven/bun-linux-x64/bin/bun"),
    env: { BUN_CONFIG_REGISTRY: stdout.trim() },
  };
}

/** The arguments of `npx` for pnpm. */
export const pnpm = ["-y", "pnpm@12.21.0"];

const made = new Map();
function programFolder(name, dependencies) {
  if (!made.has(name)) {
    const folder = createProject(`program-${name}`, { manifest: { dependencies } });
    made.set(
      name,
      npmInstall(folder).then(() => folder),
    );
  }
  return made.get(name);
}
