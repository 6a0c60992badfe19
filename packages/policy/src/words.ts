import type { ToolEffect } from "@toolcrib/core";
import type { PathScope } from "@toolcrib/core/files";
import { clip, showInvisible } from "@toolcrib/core/text";

const longestShown = 300;

/** One line of text for a person: bounded, and nothing in it is invisible or moves the cursor. */
export function oneLine(text: string, limit: number = longestShown): string {
  return clip(showInvisible(text.slice(0, limit * 2).replace(/\s*\n\s*/g, " ⏎ ")), limit);
}

/** What an effect does, after "would". */
export function describeEffect(effect: ToolEffect, scope: PathScope): string {
  const { kind, path, tree, command, host } = effect;
  const place =
    path === undefined ? "files that it does not name" : oneLine(scope.print(path)) + (tree ? " and all below it" : "");
  switch (kind) {
    case "execute":
      return command === undefined ? "run a program that it does not name" : `run: ${oneLine(command)}`;
    case "network":
      return host === undefined ? "use the network" : `reach ${oneLine(host)}`;
    default:
      return `${kind} ${place}`;
  }
}
