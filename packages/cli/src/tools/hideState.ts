import { createPathScope, ensureDirectory, isInside } from "@toolcrib/kit/files";
import type { SandboxOptions } from "@toolcrib/tools-bash";
import { configFolder } from "../state/stateBase.ts";
import { canonicalPath, makeStateFolder, stateFolder } from "../state/stateFolder.ts";

/** Hides the user's own folders from commands where a root holds them: they could otherwise allow what only the user may allow. */
export function hideState(sandbox: SandboxOptions, root: readonly string[], env: NodeJS.ProcessEnv): SandboxOptions {
  const { roots = [] } = createPathScope({ root });
  const hidden = [stateFolder(env), configFolder(env)].filter((folder) =>
    [folder, canonicalPath(folder)].some((place) => roots.some((root) => isInside(root, place))),
  );
  if (hidden.length === 0) return sandbox;
  try {
    // Only a folder that exists can be hidden.
    if (hidden.includes(stateFolder(env))) makeStateFolder(env);
    if (hidden.includes(configFolder(env))) ensureDirectory(configFolder(env), 0o700);
  } catch {
    // The sandbox reports a folder that it cannot hide.
  }
  return { ...sandbox, hidden };
}
