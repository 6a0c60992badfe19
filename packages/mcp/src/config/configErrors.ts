import { nearestName } from "@toolcrib/core/internal";
import { McpError } from "../errors.ts";

/** Makes the error of a file. `message` begins with its name. */
export function badConfigFile(file: string, message: string): McpError<"bad_config_file"> {
  return new McpError("bad_config_file", "", message, { file });
}

/** Throws an McpError (`unknown_server`) for a server that is not among those of a file. */
export function requireServer(servers: Readonly<Record<string, unknown>>, name: string, file: string): void {
  if (Object.hasOwn(servers, name)) return;
  const names = Object.keys(servers);
  const nearest = nearestName(name, names);
  const known = names.length > 0 ? `there are ${names.join(", ")}` : "there are none";
  const message = `${name} is not in ${file}; ${nearest ? `did you mean ${nearest}?` : known}`;
  throw new McpError("unknown_server", name, message, { file });
}
