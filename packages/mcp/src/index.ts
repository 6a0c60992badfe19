export { checkServer, type McpServerCheck } from "./client/checkServer.ts";
export { fingerprint, type McpToolChange } from "./client/fingerprint.ts";
export { type McpMount, type MountMcpOptions, mountMcp } from "./client/mountMcp.ts";
export type { McpConfig, McpServerConfig } from "./client/serverConfig.ts";
export { fileToolStore, type McpToolStore } from "./client/toolStore.ts";
export { type AnyMcpError, isMcpError, McpError, type McpErrorCode } from "./errors.ts";
export { type HttpOptions, httpOptionProblem } from "./http/httpOptions.ts";
export type { ListedTool } from "./mapping.ts";
export { type McpServing, type ServeMcpOptions, serveMcp } from "./server/serveMcp.ts";
