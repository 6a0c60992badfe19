import type { ExecutableTool } from "@toolcrib/core";
import { editFileTool } from "./edit/editFile.ts";
import { createListDirTool } from "./listDir.ts";
import { createMkdirTool } from "./mkdir.ts";
import { createMoveTool } from "./move/move.ts";
import { type FsToolOptions, settingsOf } from "./options.ts";
import { applyPatchTool } from "./patch/applyPatch.ts";
import { readFileTool } from "./read/readFile.ts";
import { createRemoveTool } from "./remove/remove.ts";
import { writeFileTool } from "./writeFile.ts";

/** Makes all tools of this package: read_file, write_file, edit_file, list_dir, mkdir, remove, move, apply_patch. Throws a TypeError for invalid options. */
export function createFsTools(options: FsToolOptions = {}): ExecutableTool[] {
  const settings = settingsOf("createFsTools", options);
  return [
    readFileTool(settings),
    writeFileTool(settings),
    editFileTool(settings),
    createListDirTool(options),
    createMkdirTool(options),
    createRemoveTool(options),
    createMoveTool(options),
    applyPatchTool(settings),
  ];
}
