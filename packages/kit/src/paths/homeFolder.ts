import { homedir, userInfo } from "node:os";
import path from "node:path";

/**
 * Returns the user's home: `HOME`, or that of the account where `HOME` is empty or relative and would lead into the working directory.
 * Undefined where there is neither.
 */
export function homeFolder(): string | undefined {
  for (const read of [homedir, (): string => userInfo().homedir]) {
    try {
      const home = read();
      if (path.isAbsolute(home)) return home;
    } catch {
      // The user may be unknown to the system, as in some containers.
    }
  }
  return undefined;
}
