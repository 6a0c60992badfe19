// The packed packages, and projects that have them.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packOnce } from "../../scripts/packOnce.mjs";
import { createProject, npmInstall } from "./project.mjs";

/** `@toolcrib/NAME` to the tarball's `file:` address, for every published package. */
export const tarballs = JSON.parse(readFileSync(join(packOnce(), "overrides.json"), "utf8"));

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
