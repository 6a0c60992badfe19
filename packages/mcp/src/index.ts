export { fingerprint, type McpToolChange } from "./client/fingerprint.ts";
export { type McpMount, type MountMcpOptions, mountMcp } from "./client/mountMcp.ts";
export type { McpCommandConfig, McpConfig, McpServerConfig, McpUrlConfig } from "./client/serverConfig.ts";
export { fileToolStore, type KnownServer, type KnownTool, type McpToolStore } from "./client/toolStore.ts";
export { type AnyMcpError, isMcpError, McpError, type McpErrorCode, type McpErrorDetails } from "./errors.ts";
export type { HttpOptions } from "./http/httpOptions.ts";
export type { ListedTool } from "./mapping.ts";
export type { RegistrySource } from "./server/registriesByRoots.ts";
export { type McpServing, type ServeMcpOptions, serveMcp } from "./server/serveMcp.ts";
