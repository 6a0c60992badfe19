import { lstatSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { defineTool, type ExecutableTool, isToolError, toolOutput } from "@toolcrib/core";
import { clip, printableName } from "@toolcrib/core/text";
import {
  LookAlikes,
  mayHoldEntries,
  openInside,
  type PathScope,
  pathEffect,
  plainSystemError,
  systemErrorCode,
} from "@toolcrib/kit/files";
import { objectSchema } from "@toolcrib/kit/text";
import { count, createChangeQueue, type FsToolOptions, origin, settingsOf, text } from "../options.ts";
import { confirmNotDenied, refuseDeniedBelow } from "./deniedBelow.ts";
import { refuseProtected } from "./protectedPaths.ts";
import { removeTree } from "./removeTree.ts";

const parameters = {
  type: "object",
  properties: { path: { type: "string", description: "File or directory" } },
  required: ["path"],
  additionalProperties: false,
} as const;

/** Makes `remove`, which removes a file, a link or a whole directory tree, and refuses protected paths before anything is touched. */
export function createRemoveTool(options: FsToolOptions = {}): ExecutableTool {
  const { scope } = settingsOf("createRemoveTool", options);
  const inQueue = createChangeQueue();
  /** Finds an entry; undefined below a file, where nothing can be. */
  const find = async (path: string): Promise<string | undefined> => {
    try {
      return await scope.resolveEntry(path);
    } catch (error) {
      if (isToolError(error) && systemErrorCode(error.cause) === "ENOTDIR") return undefined;
      throw error;
    }
  };
  return defineTool({
    name: "remove",
    origin,
    description: "Remove a file, or a directory with everything in it (recursive, no undo).",
    parameters,
    destructive: true,
    idempotent: true,
    outputSchema: objectSchema({ path: text, removed: count }),
    effects: async ({ path }) => {
      const entry = (await find(path)) ?? resolve(scope.cwd, path);
      return [pathEffect("delete", entry, path, scope, mayHoldEntries(entry))];
    },
    execute: async ({ path }, call) => {
      const nothing = `Nothing to remove: ${printableName(clip(path))}`;
      const entry = await find(path);
      if (entry === undefined) return toolOutput(nothing, { data: { path, removed: 0 } });
      const shortened = scope.shorten(entry);
      const remove = async (): Promise<string> => {
        refuseProtected(entry, scope);
        try {
          const stats = lstatSync(entry, { throwIfNoEntry: false });
          if (stats === undefined)
            return toolOutput(nothing + alikeHint(entry, scope), { data: { path: shortened, removed: 0 } });
          if (stats.isDirectory()) await refuseDeniedBelow(entry, scope, call.signal);
          const parent = dirname(entry);
          const confirm = confirmNotDenied(parent, scope);
          const open = openInside(parent, scope);
          const removed = await removeTree(open, basename(entry), stats.isDirectory(), call, confirm);
          const words = `Removed ${scope.print(entry)}${stats.isDirectory() ? ` (${removed} entries)` : ""}`;
          return toolOutput(words, { data: { path: shortened, removed } });
        } catch (error) {
          throw plainSystemError(error, scope.print(entry));
        }
      };
      return inQueue([entry], remove, call.signal);
    },
  });
}

/** Names what looks like the missing path. It is never removed in its place: the same call may be repeated after it removed a file. */
function alikeHint(path: string, scope: PathScope): string {
  const names = new LookAlikes(scope).namesOf(path);
  if (names.length === 0) return "";
  return `; there is ${names.join(" and ")}, whose name looks the same: pass it exactly so to remove it`;
}
