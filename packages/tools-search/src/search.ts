import type { ExecutableTool } from "@toolcrib/core";
import { type SearchOptions, settingsOf } from "./options.ts";
import { createSearchFilesTool } from "./searchFiles.ts";
import { createSearchTextTool } from "./searchText.ts";

/** Makes the pack: `search_text` and `search_files`, in this order. Throws a TypeError for options that cannot be understood. */
export function createSearchTools(options: SearchOptions = {}): ExecutableTool[] {
  settingsOf("createSearchTools", options);
  return [createSearchTextTool(options), createSearchFilesTool(options)];
}
