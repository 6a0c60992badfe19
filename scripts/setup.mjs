// Installs the workspace when its manifests or lockfile changed since the last install; plain Node 18+, no dependencies.
// `setup.mjs docs` installs a folder that is outside of the workspace, with a lockfile of its own.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const workspace = dirname(dirname(fileURLToPath(import.meta.url)));
const root = join(workspace, process.argv.slice(2).find((word) => !word.startsWith("-")) ?? "");
const stamp = join(root, "node_modules", ".setup-stamp");
const members = ["packages", "examples", "."]
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== "node_modules")
      .map((entry) => join(folder, entry.name, "package.json")),
  );
const files = ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ...members].filter((file) =>
  existsSync(join(root, file)),
);
const hash = createHash("sha256");
for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
const digest = hash.digest("hex");

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== digest) {
  const { packageManager, devDependencies } = JSON.parse(readFileSync(join(workspace, "package.json"), "utf8"));
  const lock = existsSync(join(root, "pnpm-lock.yaml")) && !process.argv.includes("--update");
  const args = ["-y", packageManager, "install", lock ? "--frozen-lockfile" : "--no-frozen-lockfile"];
  // Engines are checked against the Node that the install brings, not the one that starts it.
  args.push(`--config.node-version=${devDependencies.node}`);
  // Standard output stays clean for `npm start -- run … | …`.
  const run = spawnSync("npx", args, { cwd: root, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
  if (run.status !== 0) {
    console.error("setup: the install failed; see the lines above. It needs the network the first time.");
    process.exit(run.status ?? 1);
  }
  if (lock) writeFileSync(stamp, digest);
}
