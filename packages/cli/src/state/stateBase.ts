import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";

/** Returns the folder for the state of a user's programs. Imports no package: it is asked before the first one is loaded. */
export function stateBase(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  const given = [env.XDG_STATE_HOME, platform === "win32" ? env.LOCALAPPDATA : undefined];
  return given.find((path) => path && isAbsolute(path)) ?? join(home(), ".local", "state");
}

/** Returns the folder of the user's own configuration. */
export function configFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  const given = [env.XDG_CONFIG_HOME, platform === "win32" ? env.APPDATA : undefined];
  return join(given.find((path) => path && isAbsolute(path)) ?? join(home(), ".config"), "toolcrib");
}

/** Returns the user's home, as `homeFolder` of core finds it; for a user without, the usual name of none: nothing can be made there. */
export function home(): string {
  for (const read of [homedir, (): string => userInfo().homedir]) {
    try {
      const folder = read();
      if (isAbsolute(folder)) return folder;
    } catch {
      // The system may not know the user, as in some containers.
    }
  }
  return "/nonexistent";
}
