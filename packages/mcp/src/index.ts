export type { HttpOptions } from "./httpServer.ts";
export type { RegistrySource } from "./registrySource.ts";
export { type McpServing, type ServeMcpOptions, serveMcp } from "./server.ts";
