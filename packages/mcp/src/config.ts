export type { McpServerCheck } from "./client/checkServer.ts";
export { type CheckServersOptions, checkServers } from "./config/checkServers.ts";
export { requireServer } from "./config/configErrors.ts";
export { type McpConfigFile, projectConfigFile, userConfigFile } from "./config/configFile.ts";
export { mcpConfigName } from "./config/configName.ts";
export {
  allowedServers,
  fileConsents,
  type McpConsent,
  type McpConsentQuestion,
  type McpConsents,
} from "./config/consents.ts";
export { describeServer } from "./config/describeServer.ts";
export { type JoinedServers, joinServers } from "./config/joinServers.ts";
export { redactServer } from "./config/redactServer.ts";
export { serverAddress } from "./config/serverAddress.ts";
export { isMcpError, McpError } from "./errors.ts";
