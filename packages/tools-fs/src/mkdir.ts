import { defineTool, type ExecutableTool } from "@toolcrib/core";
import { makeDirectories, pathEffect, plainSystemError, withPathLocks } from "@toolcrib/core/files";
import { type FsToolOptions, origin, scopeOf } from "./options.ts";

const parameters = {
  type: "object",
  properties: { path: { type: "string", description: "Directory" } },
  required: ["path"],
  additionalProperties: false,
} as const;

/** `mkdir`: makes a directory and its parents; an existing directory is success. */
export function createMkdirTool(options: FsToolOptions = {}): ExecutableTool {
  const scope = scopeOf("createMkdirTool", options);
  return defineTool({
    name: "mkdir",
    origin,
    description: "Create a directory and its parents.",
    parameters,
    idempotent: true,
    destructive: false,
    effects: async ({ path }) => [pathEffect("write", await scope.resolve(path), path, scope)],
    execute: async ({ path }, call) => {
      const canonical = await scope.resolve(path);
      const printed = scope.print(canonical);
      const make = async (): Promise<string> => {
        try {
          const { directory, made } = makeDirectories(canonical, scope, () => call.beginCommit?.());
          directory.close();
          return made === 0 ? `Directory already exists: ${printed}` : `Created directory ${printed}`;
        } catch (error) {
          throw plainSystemError(error, printed);
        }
      };
      return withPathLocks([canonical], make, call.signal);
    },
  });
}
