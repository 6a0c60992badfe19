export { createEditFileTool } from "./edit/editFile.ts";
export { createFsTools } from "./fileSystem.ts";
export type { FsToolOptions } from "./options.ts";
export { createApplyPatchTool } from "./patch/applyPatch.ts";
export { diffOfChanges, type FileChange, proposeChanges } from "./proposeChanges.ts";
export { createReadFileTool } from "./read/readFile.ts";
