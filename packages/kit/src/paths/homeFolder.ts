import { homedir, userInfo } from "node:os";
import path from "node:path";
import { attempt } from "@toolcrib/core/internal";

/**
 * Returns the user's home: `HOME`, or that of the account where `HOME` is empty or relative and would lead into the working directory.
 * Undefined where there is neither.
 */
export function homeFolder(): string | undefined {
  for (const read of [homedir, (): string => userInfo().homedir]) {
    // The user may be unknown to the system, as in some containers.
    const home = attempt(read);
    if (home !== undefined && path.isAbsolute(home)) return home;
  }
  return undefined;
}
