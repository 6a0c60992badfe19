import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A folder for the compiled code of the programs that one run of the tests starts, removed with the run: scripts in temporary folders
 * never come again, so that a folder that stayed would grow without end.
 */
export function compileCacheOfRun(): string {
  if (folder !== undefined) return folder;
  const made = mkdtempSync(join(tmpdir(), "toolcrib-compile-cache-"));
  process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  folder = made;
  return made;
}

/** One for the projects of a run together. */
let folder: string | undefined;
