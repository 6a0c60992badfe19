export { createEditFileTool } from "./editFile.ts";
export { createFsTools } from "./fileSystem.ts";
export { createListDirTool } from "./listDir.ts";
export { createMkdirTool } from "./mkdir.ts";
export { createMoveTool } from "./move.ts";
export type { FsToolOptions } from "./options.ts";
export { createReadFileTool } from "./readFile.ts";
export { createRemoveTool } from "./remove.ts";
export { createWriteFileTool } from "./writeFile.ts";
