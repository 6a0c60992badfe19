/** The schema of the configuration, which is published beside the built files; this file stays at the root of src, as `version.ts` does. */
export function configSchema(): object {
  const { readFileSync } = process.getBuiltinModule("node:fs");
  return JSON.parse(readFileSync(new URL("../config.schema.json", import.meta.url), "utf8")) as object;
}
