import { sep } from "node:path";
import { invalidArgument } from "@toolcrib/core";

/** On POSIX `\` is a letter like any other. */
const directoryEnd = sep === "/" ? /\/\.{0,2}$/ : /[\\/]\.{0,2}$/;

/** Throws where a path that must be a file's ends as a directory's does. */
export function refuseDirectoryPath(path: string, field: string): void {
  if (directoryEnd.test(path)) throw invalidArgument(field, "ends as a directory does; name a file");
}
