import type { ExecutableTool } from "@toolcrib/core";
import { createEditFileTool } from "./edit/editFile.ts";
import { createListDirTool } from "./listDir.ts";
import { createMkdirTool } from "./mkdir.ts";
import { createMoveTool } from "./move/move.ts";
import { checkFsOptions, type FsToolOptions } from "./options.ts";
import { createReadFileTool } from "./read/readFile.ts";
import { createRemoveTool } from "./remove/remove.ts";
import { createWriteFileTool } from "./writeFile.ts";

/** All tools of this package: read_file, write_file, edit_file, list_dir, mkdir, remove, move. Throws a TypeError for invalid options. */
export function createFsTools(options: FsToolOptions = {}): ExecutableTool[] {
  checkFsOptions("createFsTools", options);
  return [
    createReadFileTool(options),
    createWriteFileTool(options),
    createEditFileTool(options),
    createListDirTool(options),
    createMkdirTool(options),
    createRemoveTool(options),
    createMoveTool(options),
  ];
}
