// What an installed package brings with it.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * The packages that npm installs with the one in `folder`, itself included: name and version to folder and manifest. Optional peers are
 * not among them: npm leaves those to the user.
 */
export function runtimeTree(folder, tree = new Map()) {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const key = `${manifest.name}@${manifest.version}`;
  if (tree.has(key)) return tree;
  tree.set(key, { folder: realpathSync(folder), manifest });
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    const home = createRequire(join(realpathSync(folder), "package.json"))
      .resolve.paths(name)
      .map((path) => join(path, name))
      .find((path) => existsSync(join(path, "package.json")));
    // An optional dependency may be for another system.
    if (home) runtimeTree(home, tree);
    else if (name in (manifest.dependencies ?? {}))
      throw new Error(`${key}: ${name} is not installed; run npm run setup`);
  }
  return tree;
}

/** Returns whether npm runs a program of the package at install. A `binding.gyp` is built without being asked for. */
export function runsAtInstall({ folder, manifest: { scripts = {} } }) {
  const names = ["preinstall", "install", "postinstall"];
  return names.some((name) => name in scripts) || existsSync(join(folder, "binding.gyp"));
}
