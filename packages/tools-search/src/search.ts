import type { ExecutableTool } from "@toolcrib/core";
import { checkSearchOptions, type SearchOptions } from "./options.ts";
import { createSearchFilesTool } from "./searchFiles.ts";
import { createSearchTextTool } from "./searchText.ts";

/** The pack: `search_text` and `search_files`, in this order. Throws a TypeError for options that cannot be understood. */
export function createSearchTools(options: SearchOptions = {}): ExecutableTool[] {
  checkSearchOptions("createSearchTools", options);
  return [createSearchTextTool(options), createSearchFilesTool(options)];
}
