import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";

/** The user's own folders: outside of the working directory, which may hold somebody else's files. */
export interface Folders {
  readonly home: string;
  /** The folder of what toolcrib keeps between runs. */
  readonly state: string;
  readonly config: string;
}

/** Finds the folders. Imports no package: they are needed before the first one is loaded. */
export function findFolders(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): Folders {
  const home = findHome();
  const isWindows = platform === "win32";
  const own = (usual: string, ...given: readonly (string | undefined)[]): string =>
    join(given.find((path) => path && isAbsolute(path)) ?? join(home, usual), "toolcrib");
  return {
    home,
    state: own(join(".local", "state"), env.XDG_STATE_HOME, isWindows ? env.LOCALAPPDATA : undefined),
    config: own(".config", env.XDG_CONFIG_HOME, isWindows ? env.APPDATA : undefined),
  };
}

/** Returns the user's home, as `homeFolder` of core finds it; for a user without, the usual name of none: nothing can be made there. */
function findHome(): string {
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
