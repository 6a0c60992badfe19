import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { canonicalOrUndefined } from "./canonicalPath.ts";
import { isInside } from "./pathLimits.ts";

/*
 * By hand: packages that look up programs cannot leave out the directories that tools may write.
 */

/** The folder in which package managers put the programs of a project. */
const projectPrograms: string = join("node_modules", ".bin");

/**
 * Returns the absolute path of a program on PATH. Skips relative folders, `node_modules/.bin`, folders inside `notIn` (canonical directories
 * that tools may write) and links that lead into any of these. Callers look it up once and keep the path.
 */
export function findProgram(name: string, notIn: readonly string[] = []): string | undefined {
  for (const folder of (process.env.PATH ?? "").split(delimiter).filter(isAbsolute)) {
    const program = programIn(folder, name, notIn);
    if (program !== undefined) return program;
  }
  return undefined;
}

function programIn(folder: string, name: string, notIn: readonly string[]): string | undefined {
  return attempt(() => {
    // The folder's real path, but the program's own name: some programs act by the name they are called by.
    const program = join(realpathSync.native(folder), name);
    const target = realpathSync.native(program);
    accessSync(target, constants.X_OK);
    const isProgram = statSync(target).isFile() && [folder, program, target].every((path) => isTrusted(path, notIn));
    return isProgram ? program : undefined;
  });
}

/** Returns whether a given path, links followed too, lies where tools cannot have written it. */
export function isTrustedProgram(path: string, notIn: readonly string[]): boolean {
  return isTrusted(path, notIn) && isTrusted(canonicalOrUndefined(path) ?? path, notIn);
}

function isTrusted(path: string, notIn: readonly string[]): boolean {
  return !`${path}${sep}`.includes(`${sep}${projectPrograms}${sep}`) && !notIn.some((place) => isInside(place, path));
}
