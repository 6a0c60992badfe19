import { createPathScope, isInside } from "@toolcrib/core/files";
import type { SandboxOptions } from "@toolcrib/tools-bash";
import { canonicalPath, makeStateFolder, stateFolder } from "../state/stateFolder.ts";

/** Hides the user's own folder from commands where a root holds it: they could otherwise allow what only the user may allow. */
export function hideState(sandbox: SandboxOptions, root: readonly string[], env: NodeJS.ProcessEnv): SandboxOptions {
  const folder = stateFolder(env);
  const places = [folder, canonicalPath(folder)];
  const { roots = [] } = createPathScope({ root });
  if (!roots.some((root) => places.some((place) => isInside(root, place)))) return sandbox;
  try {
    // Only a folder that exists can be hidden.
    makeStateFolder(env);
  } catch {
    // The sandbox reports a folder that it cannot hide.
  }
  return { ...sandbox, hidden: [folder] };
}
