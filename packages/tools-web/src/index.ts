export type { WebToolOptions } from "./options.ts";
export { createWebFetchTool, createWebTools } from "./webFetch.ts";
