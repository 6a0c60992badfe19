import { defineTool, type ExecutableTool, toolOutput } from "@toolcrib/core";
import {
  createSemaphore,
  type FilePath,
  pathEffect,
  type WriteResult,
  withPathLocks,
  writeAtomically,
} from "@toolcrib/kit/files";
import { resolveFile } from "./directoryPath.ts";
import { type FsToolOptions, openFileLimit, origin, scopeOf, seenFilesOf } from "./options.ts";
import { count, flag, objectSchema, text } from "./outputSchemas.ts";
import { lostForm } from "./replacedText.ts";
import type { SeenFiles } from "./seenFiles.ts";

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "File" },
    content: { type: "string", description: "Whole text" },
  },
  required: ["path", "content"],
  additionalProperties: false,
} as const;

/** `write_file`: creates a file, with its parent directories, or replaces the whole content of one. */
export function createWriteFileTool(options: FsToolOptions = {}): ExecutableTool {
  return writeFileTool(options, seenFilesOf("createWriteFileTool", options));
}

/** With what the tools of one pack remember of files. */
export function writeFileTool(options: FsToolOptions, seen: SeenFiles | undefined): ExecutableTool {
  const scope = scopeOf("createWriteFileTool", options);
  const queue = createSemaphore(openFileLimit);
  return defineTool({
    name: "write_file",
    origin,
    description: "Write a file, replacing its content; creates parent directories.",
    parameters,
    destructive: true,
    idempotent: true,
    outputSchema: objectSchema({ path: text, bytes: count, created: flag, "written_in_place?": flag }),
    effects: async ({ path }) => [pathEffect("write", await resolveFile(scope, path), path, scope)],
    execute: async ({ path, content }, call) => {
      const canonical = await resolveFile(scope, path);
      const beforeReplace = seen && ((file: FilePath): void => seen.refuseUnseen(file, scope.print(canonical)));
      let lost = "";
      const write = async (): Promise<WriteResult> => {
        lost = lostForm(canonical, content, scope);
        const result = await writeAtomically(canonical, content, { scope, call, beforeReplace });
        seen?.note(canonical);
        return result;
      };
      const result = await withPathLocks([canonical], () => queue(write), call.signal);
      const { bytes, created, inPlace } = result;
      const words = `${created ? "Created" : "Wrote"} ${scope.print(canonical)} (${bytes} bytes)${inPlaceNote(result)}${lost}`;
      const data = { path: scope.shorten(canonical), bytes, created, ...(inPlace && { written_in_place: true }) };
      return toolOutput(words, { data });
    },
  });
}

/** Says that a write was not atomic, and why; empty for one that was. */
export function inPlaceNote({ inPlace }: WriteResult): string {
  if (inPlace === undefined) return "";
  const why = inPlace === "hard links" ? "it has several hard links" : "its owner could not be kept otherwise";
  return `; written in place, not atomically, because ${why}`;
}
