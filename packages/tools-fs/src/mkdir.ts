import { defineTool, type ExecutableTool, toolOutput } from "@toolcrib/core";
import { LookAlikes, makeDirectories, pathEffect, plainSystemError, withPathLocks } from "@toolcrib/kit/files";
import { objectSchema } from "@toolcrib/kit/text";
import { type FsToolOptions, flag, origin, settingsOf, text } from "./options.ts";
import { alikeNote } from "./writeFile.ts";

const parameters = {
  type: "object",
  properties: { path: { type: "string", description: "Directory" } },
  required: ["path"],
  additionalProperties: false,
} as const;

/** Makes `mkdir`, which makes a directory and its parents; an existing directory is success. */
export function createMkdirTool(options: FsToolOptions = {}): ExecutableTool {
  const { scope } = settingsOf("createMkdirTool", options);
  return defineTool({
    name: "mkdir",
    origin,
    description: "Create a directory and its parents.",
    parameters,
    idempotent: true,
    destructive: false,
    outputSchema: objectSchema({ path: text, created: flag }),
    effects: async ({ path }) => [pathEffect("write", await scope.resolve(path), path, scope)],
    execute: async ({ path }, call) => {
      const canonical = await scope.resolve(path);
      const printed = scope.print(canonical);
      const make = async (): Promise<string> => {
        const alike = new LookAlikes(scope).beside(canonical);
        try {
          const { directory, made } = makeDirectories(canonical, scope, () => call.beginCommit?.());
          directory.close();
          const words =
            made === 0 ? `Directory already exists: ${printed}` : `Created directory ${printed}${alikeNote(alike)}`;
          return toolOutput(words, { data: { path: scope.shorten(canonical), created: made > 0 } });
        } catch (error) {
          throw plainSystemError(error, printed);
        }
      };
      return withPathLocks([canonical], make, call.signal);
    },
  });
}
