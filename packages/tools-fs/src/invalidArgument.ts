import { sep } from "node:path";
import { ToolError } from "@toolcrib/core";

/** The error for an argument that its schema allows but this call cannot use. */
export function invalidArgument(field: string, reason: string): ToolError<"invalid_arguments"> {
  return new ToolError({
    code: "invalid_arguments",
    message: `Invalid arguments: ${field} ${reason}`,
    details: { field, reason },
  });
}

/** On POSIX `\` is a letter like any other. */
const directoryEnd = sep === "/" ? /\/\.{0,2}$/ : /[\\/]\.{0,2}$/;

/** Throws where a path that must be a file's ends as a directory's does. */
export function refuseDirectoryPath(path: string, field: string): void {
  if (directoryEnd.test(path)) throw invalidArgument(field, "ends as a directory does; name a file");
}
