export { type McpMount, type MountMcpOptions, mountMcp } from "./client.ts";
export { type AnyMcpError, isMcpError, McpError, type McpErrorCode, type McpErrorDetails } from "./errors.ts";
export { fingerprint, type McpToolChange } from "./fingerprint.ts";
export type { HttpOptions } from "./httpServer.ts";
export type { ListedTool } from "./mapping.ts";
export type { RegistrySource } from "./registrySource.ts";
export { type McpServing, type ServeMcpOptions, serveMcp } from "./server.ts";
export type { McpCommandConfig, McpConfig, McpServerConfig, McpUrlConfig } from "./serverConfig.ts";
export { fileToolStore, type KnownServer, type KnownTool, type McpToolStore } from "./toolStore.ts";
