import { readFileSync } from "node:fs";
import { defineTool, type ExecutableTool, ToolError } from "@toolcrib/core";
import {
  createSemaphore,
  type FilePath,
  openRegularFile,
  type PathScope,
  pathEffect,
  plainSystemError,
  withPathLocks,
  writeAtomically,
} from "@toolcrib/core/files";
import { byteOrderMark } from "@toolcrib/core/text";
import { refuseDirectoryPath } from "../directoryPath.ts";
import { type FsToolOptions, maxBytesOf, openFileLimit, origin, scopeOf, seenFilesOf } from "../options.ts";
import type { SeenFiles } from "../seenFiles.ts";
import { inPlaceNote } from "../writeFile.ts";
import { replaceText } from "./replaceText.ts";
import { unifiedDiff } from "./unifiedDiff.ts";

/** Both texts are in memory at once, so a larger file is refused, and an edit that would make it larger. */
const longestEditable = 32 * 1024 * 1024;

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

/** `edit_file`: replaces exact text, all edits or none, and returns a unified diff. */
export function createEditFileTool(options: FsToolOptions = {}): ExecutableTool {
  return editFileTool(options, seenFilesOf(options));
}

/** With what the tools of one pack remember of files. */
export function editFileTool(options: FsToolOptions, seen: SeenFiles | undefined): ExecutableTool {
  const scope = scopeOf("createEditFileTool", options);
  const maxBytes = maxBytesOf(options);
  const queue = createSemaphore(openFileLimit);
  const resolve = (path: string): Promise<string> => {
    refuseDirectoryPath(path, "path");
    return scope.resolve(path);
  };
  return defineTool({
    name: "edit_file",
    origin,
    description: "Replace exact text in a file, all edits or none, in order; answers with a diff.",
    parameters,
    destructive: true,
    // Its answer, a diff, shows what the file holds.
    effects: async ({ path }) => {
      const canonical = await resolve(path);
      return [pathEffect("read", canonical, path, scope), pathEffect("write", canonical, path, scope)];
    },
    execute: async ({ path, edits }, call) => {
      const canonical = await resolve(path);
      const printed = scope.print(canonical);
      const edit = async (): Promise<string> => {
        const beforeReplace = seen && ((file: number | FilePath): void => seen.refuseUnseen(file, printed));
        const old = readEditable(canonical, scope, beforeReplace);
        const mark = old.startsWith(byteOrderMark) ? byteOrderMark : "";
        const withoutMark = edits.map((one) => ({ ...one, old_text: one.old_text.replace(/^\ufeff/, "") }));
        const limits = { maxBytes: longestEditable - Buffer.byteLength(mark), signal: call.signal };
        const changed = mark + (await replaceText(old.slice(mark.length), withoutMark, limits));
        const result = await writeAtomically(canonical, changed, { scope, call, beforeReplace });
        seen?.note(canonical);
        const note = inPlaceNote(result);
        return `${note && `${printed}${note}\n\n`}${await unifiedDiff(printed, old, changed, maxBytes)}`;
      };
      return withPathLocks([canonical], () => queue(edit), call.signal);
    },
  });
}

/** `check` may throw for the open file. */
function readEditable(canonical: string, scope: PathScope, check?: (descriptor: number) => void): string {
  const printed = scope.print(canonical);
  const refuse = (why: string): ToolError =>
    new ToolError({ code: "execution_failed", message: `Not edited: ${printed} ${why}` });
  const file = openRegularFile(canonical, scope);
  try {
    check?.(file.descriptor);
    if (file.stats.size > longestEditable) throw refuse(`is larger than ${longestEditable} bytes; split it first`);
    const bytes = readFileSync(file.descriptor);
    const text = decodeUtf8(bytes);
    if (text === undefined)
      throw refuse("is not valid UTF-8, so an edit would change other bytes too; convert it first");
    return text;
  } catch (error) {
    throw plainSystemError(error, printed);
  } finally {
    file.close();
  }
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
