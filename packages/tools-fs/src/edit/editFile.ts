import { defineTool, type ExecutableTool, isToolError, ToolError, toolOutput } from "@toolcrib/core";
import { type FilePath, pathEffect, systemErrorCode, writeAtomically } from "@toolcrib/kit/files";
import { objectSchema } from "@toolcrib/kit/text";
import { resolveExistingFile } from "../directoryPath.ts";
import { createChangeQueue, type FsSettings, type FsToolOptions, origin, settingsOf, text } from "../options.ts";
import { inPlaceNote } from "../writeFile.ts";
import { keepByteOrderMark, readEditable } from "./readEditable.ts";
import { type Edit, replaceText } from "./replaceText.ts";
import { unifiedDiff } from "./unifiedDiff.ts";

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "File" },
    edits: {
      type: "array",
      minItems: 1,
      description: "Applied in order",
      items: {
        type: "object",
        properties: {
          old_text: { type: "string", description: "Exact and unique" },
          new_text: { type: "string", description: "Replacement" },
          replace_all: { type: "boolean", description: "Every match; default false" },
        },
        required: ["old_text", "new_text"],
        additionalProperties: false,
      },
    },
  },
  required: ["path", "edits"],
  additionalProperties: false,
} as const;

/** Makes `edit_file`, which replaces exact text, all edits or none, and returns a unified diff. */
export function createEditFileTool(options: FsToolOptions = {}): ExecutableTool {
  return editFileTool(settingsOf("createEditFileTool", options));
}

/** Makes the tool from settings that the tools of a pack share. */
export function editFileTool({ scope, seen, maxBytes }: FsSettings): ExecutableTool {
  const inQueue = createChangeQueue();
  return defineTool({
    name: "edit_file",
    origin,
    description: "Replace exact text in a file, all edits or none, in order; answers with a diff.",
    parameters,
    defaults: { "edits[].replace_all": false },
    destructive: true,
    outputSchema: objectSchema({ path: text, diff: text }),
    // Its answer, a diff, shows what the file holds.
    effects: async ({ path }) => {
      const { path: canonical } = await resolveExistingFile(scope, path);
      return [pathEffect("read", canonical, path, scope), pathEffect("write", canonical, path, scope)];
    },
    execute: async ({ path, edits }, call) => {
      const { path: canonical, notice } = await resolveExistingFile(scope, path);
      const printed = scope.print(canonical);
      const edit = async (): Promise<string> => {
        const beforeReplace = seen && ((file: number | FilePath): void => seen.refuseUnseen(file, canonical, printed));
        const old = readOld(canonical, scope, beforeReplace);
        const changed = await applyEdits(old, edits, call.signal);
        const result = await writeAtomically(canonical, changed, { scope, call, beforeReplace });
        seen?.note(canonical, canonical);
        const note = inPlaceNote(result);
        const diff = await unifiedDiff(printed, old, changed, maxBytes);
        const notes = [note && `${printed}${note}`, notice].filter(Boolean).map((one) => `${one}\n\n`);
        return toolOutput(`${notes.join("")}${diff}`, {
          data: { path: scope.shorten(canonical), diff },
        });
      };
      return inQueue([canonical], edit, call.signal);
    },
  });
}

/** Reads as `readEditable` does; of a missing file it says what makes one. */
function readOld(...[canonical, scope, check]: Parameters<typeof readEditable>): string {
  try {
    return readEditable(canonical, scope, check);
  } catch (error) {
    if (!isToolError(error) || systemErrorCode(error.cause) !== "ENOENT") throw error;
    const { code, details, message, cause } = error;
    throw new ToolError({
      code,
      message: `${message}; write_file makes a new file`,
      ...(details && { details }),
      cause,
    });
  }
}

/** Returns the text after the edits; its byte order mark stays. */
export async function applyEdits(
  old: string,
  edits: readonly Edit[],
  signal: AbortSignal | undefined,
): Promise<string> {
  const withoutMark = edits.map((one) => ({ ...one, old_text: one.old_text.replace(/^\ufeff/, "") }));
  return keepByteOrderMark(old, (text, maxBytes) => replaceText(text, withoutMark, { maxBytes, signal }));
}
