import { sep } from "node:path";
import { invalidArgument } from "@toolcrib/core";
import { LookAlikes, type MeantPath, type PathScope } from "@toolcrib/kit/files";

/** On POSIX `\` is an ordinary character of a name. */
const directoryEnd = sep === "/" ? /\/\.{0,2}$/ : /[\\/]\.{0,2}$/;

/** Throws for the path of a file that ends in `/`, `/.` or `/..`. */
export function refuseDirectoryPath(path: string, field: string): void {
  if (directoryEnd.test(path.slice(-3))) throw invalidArgument(field, "ends like the path of a directory; name a file");
}

/** Returns the canonical path of a file that is to be written. Rejects as `refuseDirectoryPath` and `scope.resolve` do. */
export async function resolveFile(scope: PathScope, path: string): Promise<string> {
  refuseDirectoryPath(path, "path");
  return scope.resolve(path, "path");
}

/** Does the same for a file that is there, and finds it by a name that looks the same. */
export async function resolveExistingFile(scope: PathScope, path: string): Promise<MeantPath> {
  refuseDirectoryPath(path, "path");
  return new LookAlikes(scope).resolve(path);
}
