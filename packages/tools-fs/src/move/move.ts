import { lstatSync } from "node:fs";
import { defineTool, type ExecutableTool, invalidArgument, toolOutput } from "@toolcrib/core";
import { isInside, LookAlikes, mayHoldEntries, type PathScope, pathEffect, plainPathError } from "@toolcrib/kit/files";
import { objectSchema } from "@toolcrib/kit/text";
import { refuseDirectoryPath } from "../directoryPath.ts";
import { createChangeQueue, type FsToolOptions, origin, settingsOf, text } from "../options.ts";
import { refuseDeniedBelow } from "../remove/deniedBelow.ts";
import { refuseProtected } from "../remove/protectedPaths.ts";
import { alikeNote } from "../writeFile.ts";
import { alreadyExists, isCaseOnlyRename, moveEntry } from "./moveEntry.ts";

const parameters = {
  type: "object",
  properties: {
    source: { type: "string", description: "Old path" },
    destination: { type: "string", description: "The new path itself" },
  },
  required: ["source", "destination"],
  additionalProperties: false,
} as const;

/** Makes `move`, which renames or moves a file, link or directory, across devices too, and never overwrites. */
export function createMoveTool(options: FsToolOptions = {}): ExecutableTool {
  const { scope } = settingsOf("createMoveTool", options);
  const inQueue = createChangeQueue();
  return defineTool({
    name: "move",
    origin,
    description: "Move or rename a file or directory, creating parents; never overwrites.",
    parameters,
    destructive: true,
    outputSchema: objectSchema({ source: text, destination: text }),
    effects: async ({ source, destination }) => {
      const from = await scope.resolveEntry(source, "source");
      const to = await scope.resolveEntry(destination, "destination");
      const tree = mayHoldEntries(from);
      return [
        pathEffect("read", from, source, scope, tree),
        pathEffect("delete", from, source, scope, tree),
        pathEffect("write", to, destination, scope, tree),
      ];
    },
    execute: async ({ source, destination }, call) => {
      const from = await scope.resolveEntry(source, "source");
      const to = await scope.resolveEntry(destination, "destination");
      const move = async (): Promise<string> => {
        refuseMove(from, to, scope);
        if (lstatSync(from).isDirectory()) await refuseDeniedBelow(from, scope, call.signal, to);
        else refuseDirectoryPath(destination, "destination");
        const beside = alikeNote(new LookAlikes(scope).beside(to, from));
        await moveEntry(from, to, scope, call);
        const data = { source: scope.shorten(from), destination: scope.shorten(to) };
        const words = `Moved ${scope.print(from)} to ${scope.print(to)}${beside}`;
        return toolOutput(words, { data });
      };
      return inQueue([from, to], move, call.signal);
    },
  });
}

/** Throws, before anything is touched, for a move that cannot or must not be made. */
function refuseMove(from: string, to: string, scope: PathScope): void {
  refuseProtected(from, scope);
  try {
    const stats = lstatSync(from);
    if (from === to) throw invalidArgument("destination", "is the source itself; choose another path");
    if (stats.isDirectory() && isInside(from, to)) {
      throw invalidArgument(
        "destination",
        "lies inside the source; a directory cannot be moved into itself: choose a path outside it",
      );
    }
    if (lstatSync(to, { throwIfNoEntry: false }) && !isCaseOnlyRename(from, to)) throw alreadyExists(scope.print(to));
  } catch (error) {
    throw plainPathError(error, from, scope);
  }
}
