import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Each project's configuration is loaded by itself, so that what they share is in the environment. */
const variable = "TOOLCRIB_COMPILE_CACHE";

/**
 * A folder for the compiled code of the programs that one run of the tests starts, removed with the run: scripts in temporary folders
 * never come again, so that a folder that stayed would grow without end.
 */
export function compileCacheOfRun(): string {
  const known = process.env[variable];
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-compile-cache-"));
  process.env[variable] = folder;
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
