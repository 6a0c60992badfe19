// Builds all packages and writes the manifests of their tools. In the checkout that TOOLCRIB_BUILT names it does nothing: Nx would take
// each dist away and put it back from its cache, while tests that run beside it load them.
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const steps = [
  [join(root, "node_modules/nx/dist/bin/nx.js"), "run-many", "-t", "build", "--output-style=summary"],
  [join(root, "scripts/writeManifests.mjs")],
];
if (process.env.TOOLCRIB_BUILT !== root)
  for (const step of steps) {
    const { status } = spawnSync(process.execPath, step, { cwd: root, stdio: "inherit" });
    process.exitCode = status ?? 1;
    if (status !== 0) break;
  }
