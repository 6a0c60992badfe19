import type { ExecutableTool } from "@toolcrib/core";
import type { SearchOptions } from "./options.ts";
import { createSearchFilesTool } from "./searchFiles.ts";
import { createSearchTextTool } from "./searchText.ts";

/** The pack: `search_text` and `search_files`, in this order. */
export function createSearchTools(options: SearchOptions = {}): ExecutableTool[] {
  return [createSearchTextTool(options), createSearchFilesTool(options)];
}
