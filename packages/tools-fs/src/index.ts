export { createEditFileTool } from "./edit/editFile.ts";
export { createFsTools } from "./fileSystem.ts";
export { createListDirTool } from "./listDir.ts";
export { createMkdirTool } from "./mkdir.ts";
export { createMoveTool } from "./move/move.ts";
export type { FsToolOptions } from "./options.ts";
export { createReadFileTool } from "./read/readFile.ts";
export { createRemoveTool } from "./remove/remove.ts";
export { createWriteFileTool } from "./writeFile.ts";
