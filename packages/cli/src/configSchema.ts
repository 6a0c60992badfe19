import { packageFile } from "./version.ts";

/** The schema of the configuration, which is published. */
export function configSchema(): object {
  const { readFileSync } = process.getBuiltinModule("node:fs");
  return JSON.parse(readFileSync(packageFile("config.schema.json"), "utf8")) as object;
}
