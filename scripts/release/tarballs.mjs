// What the packages of this build are as tarballs, compared with what the registry has.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fail, root } from "./packages.mjs";

/** The tarball of each package, and what the registry will call its contents. The files are gone when the program ends. */
export function pack(packages) {
  if (packages.length === 0) return new Map();
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-release-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const args = [join(root, "scripts/packAll.mjs"), folder, ...packages.map(({ name }) => name)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) fail(`packing failed:\n${stdout}${stderr}`);
  const files = JSON.parse(readFileSync(join(folder, "overrides.json"), "utf8"));
  return new Map(
    Object.entries(files).map(([name, address]) => {
      const file = address.slice("file:".length);
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
