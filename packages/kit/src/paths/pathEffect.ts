import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import type { PathScope } from "./pathScope.ts";

/**
 * Creates an effect on a path (`ExecutableTool.effects`). `given` is the path as the caller named it and `path`
 * what the scope resolved it to.
 */
export function pathEffect(
  kind: "read" | "write" | "delete",
  path: string,
  given: string,
  scope: PathScope,
  tree = false,
): ToolEffect {
  const named = resolve(scope.cwd, given);
  return { kind, path, ...(named !== path && { givenPath: named }), ...(tree && { tree }) };
}

/** Returns false for a file or a link, below which there is nothing; true also for what cannot be looked at, or does not exist yet. */
export function mayHoldEntries(path: string): boolean {
  return attempt(() => lstatSync(path).isDirectory()) ?? true;
}
