import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { isInside } from "@toolcrib/core/files";

/** Where package managers put programs of a project. */
const projectPrograms: string = join("node_modules", ".bin");

/**
 * The absolute path of a program on PATH, looked up for good: a tool keeps it. Folders that are relative, in `node_modules/.bin`
 * or inside `notIn` (canonical directories that tools may write) do not count, nor does a link that leads into one of those.
 */
export function findProgram(name: string, notIn: readonly string[] = []): string | undefined {
  for (const folder of (process.env.PATH ?? "").split(delimiter).filter(isAbsolute)) {
    const program = programIn(folder, name, notIn);
    if (program !== undefined) return program;
  }
  return undefined;
}

function programIn(folder: string, name: string, notIn: readonly string[]): string | undefined {
  try {
    // The folder's real path, but the program's own name: some programs look at the name they are called by.
    const program = join(realpathSync.native(folder), name);
    const target = realpathSync.native(program);
    accessSync(target, constants.X_OK);
    return statSync(target).isFile() && [folder, program, target].every((path) => isTrusted(path, notIn))
      ? program
      : undefined;
  } catch {
    return undefined;
  }
}

function isTrusted(path: string, notIn: readonly string[]): boolean {
  return !`${path}${sep}`.includes(`${sep}${projectPrograms}${sep}`) && !notIn.some((place) => isInside(place, path));
}
