// What the packages of this build are as tarballs, compared with what the registry has.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fail, root } from "./packages.mjs";

/** The tarball of each package, and what the registry will call its contents. The files are gone when the program ends. */
export function pack(packages) {
  if (packages.length === 0) return new Map();
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-release-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const args = [join(root, "scripts/packAll.mjs"), folder, ...packages.map(({ name }) => name)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) fail(`packing failed:\n${stdout}${stderr}`);
  return readTarballs(folder, packages);
}

/** The same of tarballs that `packAll.mjs` left in a folder, perhaps on another machine. */
export function readTarballs(folder, packages) {
  const list = join(folder, "overrides.json");
  if (!existsSync(list)) fail(`${folder} has no overrides.json: name the folder that npm run pack made`);
  const files = new Map(Object.entries(JSON.parse(readFileSync(list, "utf8"))));
  return new Map(
    packages.map(({ name, version }) => {
      const address = files.get(name);
      if (address === undefined) fail(`${folder} holds no tarball of ${name}@${version}: pack the checkout anew`);
      const file = resolve(folder, basename(address));
      const hash = createHash("sha512").update(readFileSync(file)).digest("base64");
      return [name, { file, integrity: `sha512-${hash}` }];
    }),
  );
}

/** A version that the registry has already has to be this build, or the set would be a mixture of two commits. */
export function checkSame({ name, version }, integrity, tarballs) {
  if (integrity !== tarballs.get(name).integrity) {
    fail(
      `${name}@${version} is on the registry with other contents than this build. ` +
        "Take the commit and the version of Node that it was built with, or give it a new version",
    );
  }
}
