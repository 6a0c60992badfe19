/** Finds a file of this package by its path there. This module stays at the root of src, as built ones are in dist, so that the same relative path works in both. */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** Reads the version of this package, and the ranges of those that it uses. */
export function manifest(): { readonly version: string; readonly dependencies: Readonly<Record<string, string>> } {
  return readJson("package.json");
}

export function version(): string {
  return manifest().version;
}

/** Reads the schema of the configuration, which is published. */
export function configSchema(): Readonly<Record<string, unknown>> {
  return readJson("config.schema.json");
}

function readJson(path: string) {
  return JSON.parse(process.getBuiltinModule("node:fs").readFileSync(packageFile(path), "utf8"));
}
