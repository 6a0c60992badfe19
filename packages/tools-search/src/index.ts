export type { SearchOptions } from "./options.ts";
export { createSearchTools } from "./search.ts";
export { createSearchFilesTool } from "./searchFiles.ts";
export { createSearchTextTool } from "./searchText.ts";
