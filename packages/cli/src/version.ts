/** The version of this package. It lies at the root of src, as the build's files do at that of dist, so that one path serves both. */
export function version(): string {
  const { readFileSync } = process.getBuiltinModule("node:fs");
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
  return manifest.version;
}
