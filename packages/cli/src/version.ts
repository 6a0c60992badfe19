/** The version of this package. This file stays at the root of src, as built files are in dist, so that the same relative path works in both. */
export function version(): string {
  const { readFileSync } = process.getBuiltinModule("node:fs");
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
  return manifest.version;
}
