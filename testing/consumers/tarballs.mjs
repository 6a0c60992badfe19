// The packed packages, and projects that have them.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createProject, npmInstall, workspace } from "./project.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** `@toolcrib/NAME` to the tarball's `file:` address, for every published package. */
export const tarballs = packAll();

function packAll() {
  const run = spawnSync(process.execPath, [join(root, "scripts/packAll.mjs"), join(workspace, "tarballs")], {
    cwd: root,
    encoding: "utf8",
  });
  if (run.status !== 0) throw new Error(`packing failed:\n${run.stdout}${run.stderr}`);
  return JSON.parse(readFileSync(join(workspace, "tarballs", "overrides.json"), "utf8"));
}

/** A project with all packages, or those named, and more dependencies, installed by npm. */
export async function npmProject(
  name,
  { packages = Object.keys(tarballs), dependencies = {}, type = "module", files, manifest } = {},
) {
  const own = Object.fromEntries(packages.map((each) => [each, tarballs[each]]));
  const folder = createProject(name, {
    manifest: { type, dependencies: { ...own, ...dependencies }, ...manifest },
    files,
  });
  if (!existsSync(join(folder, "node_modules"))) await npmInstall(folder);
  return folder;
}
