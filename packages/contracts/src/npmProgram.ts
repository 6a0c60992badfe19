import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProgram } from "@toolcrib/kit/files";

/** A program and the words before its own arguments. */
type Start = readonly [program: string, ...words: string[]];

/**
 * Returns the command that starts npm. On Windows npm is a script for `cmd.exe`, which would read what is in its arguments as commands, so there Node
 * runs npm's own file beside that script. `find` looks a name up on PATH.
 */
export function npmProgram(
  platform: NodeJS.Platform = process.platform,
  find: (name: string) => string | undefined = findProgram,
): Start {
  if (platform !== "win32") return ["npm"];
  const script = find("npm.cmd");
  const file = script && join(dirname(script), "node_modules", "npm", "bin", "npm-cli.js");
  return file && existsSync(file) ? [process.execPath, file] : [find("npm.exe") ?? "npm.exe"];
}
