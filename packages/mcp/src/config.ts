export { checkServers } from "./config/checkServers.ts";
export {
  editJson,
  type McpConfigFile,
  mcpConfigName,
  projectConfigFile,
  requireServer,
  userConfigFile,
} from "./config/configFile.ts";
export { allowedServers, fileConsents, type McpConsentQuestion, type McpConsents } from "./config/consents.ts";
export { describeServer, redactServer, serverAddress } from "./config/describeServer.ts";
export { joinServers } from "./config/joinServers.ts";
